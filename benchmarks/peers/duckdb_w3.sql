-- Absence. An anti-join on key and slot. Slower: ASOF join to the next B (2.2 times), the next B as a window
-- function (3.4), the first and last B of each slot by aggregation (2).
WITH b AS (SELECT id, ts, unnest([ts // 10000 - 1, ts // 10000]) AS slot FROM events WHERE type = 'B')
SELECT id, ts AS start, ts + 10001 AS "end"
FROM events AS a ANTI JOIN b
  ON b.id = a.id AND b.slot = a.ts // 10000 AND b.ts > a.ts AND b.ts <= a.ts + 10000
WHERE type = 'A'
