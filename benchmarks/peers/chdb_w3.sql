-- Absence: the next B of each A by an ASOF join. (`windowFunnel` says how far each key got, not for which A.)
SELECT a.id AS id, a.ts AS start, a.ts + 10001 AS end
FROM (SELECT id, ts FROM Python(events) WHERE type = 'A') AS a
ASOF LEFT JOIN (SELECT id, ts, 1 AS there FROM Python(events) WHERE type = 'B') AS b ON a.id = b.id AND a.ts < b.ts
WHERE b.there = 0 OR b.ts - a.ts > 10000
