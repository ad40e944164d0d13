-- All triples: pairs as in W1, joined with C in the slots that the pair's A can reach.
WITH pair AS (
  SELECT a.id AS id, a.ts AS start, b.ts AS mid
  FROM (SELECT id, ts, arrayJoin([intDiv(ts, 10000), intDiv(ts, 10000) + 1]) AS slot FROM Python(events) WHERE type = 'A') AS a
  JOIN (SELECT id, ts, intDiv(ts, 10000) AS slot FROM Python(events) WHERE type = 'B') AS b USING (id, slot)
  WHERE b.ts > a.ts AND b.ts - a.ts <= 10000)
SELECT p.id AS id, p.mid AS mid, p.start AS start, c.ts AS end
FROM (SELECT *, arrayJoin([intDiv(start, 10000), intDiv(start, 10000) + 1]) AS slot FROM pair) AS p
JOIN (SELECT id, ts, intDiv(ts, 10000) AS slot FROM Python(events) WHERE type = 'C') AS c USING (id, slot)
WHERE c.ts > p.mid AND c.ts - p.start <= 10000
