-- All pairs: an interval join. MATCH_RECOGNIZE gives one match for each beginning, so it cannot say this.
SELECT a.id, a.ts, b.ts
FROM (SELECT * FROM events WHERE type = 'A') a JOIN (SELECT * FROM events WHERE type = 'B') b
  ON a.id = b.id AND b.moment > a.moment AND b.moment <= a.moment + INTERVAL '10' SECOND
