-- All pairs: an equi-join on key and slot, each slot as long as the window.
SELECT a.id AS id, a.ts AS start, b.ts AS end
FROM (SELECT id, ts, arrayJoin([intDiv(ts, 10000), intDiv(ts, 10000) + 1]) AS slot FROM Python(events) WHERE type = 'A') AS a
JOIN (SELECT id, ts, intDiv(ts, 10000) AS slot FROM Python(events) WHERE type = 'B') AS b USING (id, slot)
WHERE b.ts > a.ts AND b.ts - a.ts <= 10000
