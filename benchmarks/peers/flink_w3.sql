-- Absence: an outer interval join, of which the rows without a partner are kept. MATCH_RECOGNIZE cannot report that
-- nothing came.
SELECT a.id, a.ts, a.ts + 10001
FROM (SELECT * FROM events WHERE type = 'A') a LEFT JOIN (SELECT * FROM events WHERE type = 'B') b
  ON a.id = b.id AND b.moment > a.moment AND b.moment <= a.moment + INTERVAL '10' SECOND
WHERE b.id IS NULL
