-- Recent, consumed: an A and a B that follow each other among the As and Bs of a key. WITHIN is less than its bound.
SELECT id, first_ts, last_ts
FROM (SELECT * FROM events WHERE type IN ('A', 'B'))
MATCH_RECOGNIZE (
  PARTITION BY id ORDER BY moment
  MEASURES A.ts AS first_ts, B.ts AS last_ts
  ONE ROW PER MATCH AFTER MATCH SKIP PAST LAST ROW
  PATTERN (A B) WITHIN INTERVAL '10.001' SECOND
  DEFINE A AS A.type = 'A', B AS B.type = 'B')
