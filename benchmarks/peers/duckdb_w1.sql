-- All pairs. Time is cut into slots as long as the window, so that a pair lies in one slot or in two neighbours: an
-- equality join on key and slot, linear in the events. Slower: a join on the key alone (2.8 times, and quadratic in
-- the events of a key), the two slots as a union of joins (1.1), a list of starts as a window aggregate (4.4).
WITH a AS (SELECT id, ts, unnest([ts // 10000, ts // 10000 + 1]) AS slot FROM events WHERE type = 'A'),
     b AS (SELECT id, ts, ts // 10000 AS slot FROM events WHERE type = 'B')
SELECT id, a.ts AS start, b.ts AS "end"
FROM a JOIN b USING (id, slot)
WHERE b.ts > a.ts AND b.ts - a.ts <= 10000
