-- Absence: the next B of each event, as a window function. Backwards in time, so that Spark's frame only grows; an
-- anti-join on key and time compares all pairs of a key.
SELECT 'w3' AS type, ts AS start, ts + 10001 AS end, id
FROM (
  SELECT type, ts, id,
         min(CASE WHEN type = 'B' THEN ts END)
           OVER (PARTITION BY id ORDER BY ts DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS next_b
  FROM events WHERE type IN ('A', 'B'))
WHERE type = 'A' AND (next_b IS NULL OR next_b > ts + 10000)
