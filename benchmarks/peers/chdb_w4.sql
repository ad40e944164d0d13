-- Recent, consumed: the newest A before each B by an ASOF join; of the Bs with the same A the first takes it.
SELECT id, start, min(b_ts) AS end
FROM (
  SELECT b.id AS id, a.ts AS start, b.ts AS b_ts
  FROM (SELECT id, ts FROM Python(events) WHERE type = 'B') AS b
  ASOF JOIN (SELECT id, ts FROM Python(events) WHERE type = 'A') AS a ON b.id = a.id AND b.ts > a.ts)
GROUP BY id, start
HAVING end - start <= 10000
