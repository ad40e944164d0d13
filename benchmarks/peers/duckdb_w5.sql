-- Moving sum over a conjunction: the pairs in either order, then a window over the last thousand, whose start is the
-- earliest among them. Slower: running totals and their difference (1.15 times), slots on the side of B (1.15).
WITH a AS (
       SELECT id, ts, x, unnest([ts // 10000 - 1, ts // 10000, ts // 10000 + 1]) AS slot
       FROM events WHERE type = 'A'),
     b AS (SELECT id, ts, ts // 10000 AS slot FROM events WHERE type = 'B'),
     pair AS (
       SELECT x, least(a.ts, b.ts) AS start, greatest(a.ts, b.ts) AS "end"
       FROM a JOIN b USING (id, slot)
       WHERE abs(b.ts - a.ts) <= 10000)
SELECT sum(x) OVER w AS s, min(start) OVER w AS start, "end"
FROM pair
WINDOW w AS (ORDER BY "end", start ROWS 999 PRECEDING)
