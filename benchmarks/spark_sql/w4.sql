-- Recent, consumed: the event before this B, among A and B of the key, is an A, and not too old.
SELECT 'w4' AS type, before AS start, ts AS end, id
FROM (
  SELECT type, ts, id,
         lag(type) OVER (PARTITION BY id ORDER BY ts) AS kind_before,
         lag(ts) OVER (PARTITION BY id ORDER BY ts) AS before
  FROM events WHERE type IN ('A', 'B'))
WHERE type = 'B' AND kind_before = 'A' AND before >= ts - 10000
