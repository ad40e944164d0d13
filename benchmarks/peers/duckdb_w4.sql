-- Recent, consumed. Each A goes to the first B after it; of those that go to the same B the newest is taken, and the
-- older ones are gone with it. Slower: "the event before this B, among A and B of the key, is an A" with lag (1.8
-- times; 2.2 as QUALIFY), ASOF join and the first B of each A (2).
WITH a AS (SELECT id, ts, unnest([ts // 10000, ts // 10000 + 1]) AS slot FROM events WHERE type = 'A'),
     b AS (SELECT id, ts, ts // 10000 AS slot FROM events WHERE type = 'B'),
     pair AS (
       SELECT id, a.ts AS start, b.ts AS "end"
       FROM a JOIN b USING (id, slot)
       WHERE b.ts > a.ts AND b.ts - a.ts <= 10000),
     first AS (SELECT id, start, min("end") AS "end" FROM pair GROUP BY id, start)
SELECT id, max(start) AS start, "end" FROM first GROUP BY id, "end"
