-- All triples. Slots as for pairs: A is offered to its own slot and the next, C to its own and the one before, and
-- the slot of B decides, so that no triple comes twice. Slower: joins on the key alone (2.1 times, and cubic in the
-- events of a key), pairs first and then slots of their own (1.0 to 1.3).
WITH a AS (SELECT id, ts, unnest([ts // 10000, ts // 10000 + 1]) AS slot FROM events WHERE type = 'A'),
     b AS (SELECT id, ts, ts // 10000 AS slot FROM events WHERE type = 'B'),
     c AS (SELECT id, ts, unnest([ts // 10000 - 1, ts // 10000]) AS slot FROM events WHERE type = 'C')
SELECT id, b.ts AS mid, a.ts AS start, c.ts AS "end"
FROM a JOIN b USING (id, slot) JOIN c USING (id, slot)
WHERE b.ts > a.ts AND b.ts - a.ts <= 10000 AND c.ts > b.ts AND c.ts - a.ts <= 10000
