-- All pairs: the self join that everyone writes. Spark joins on the key and compares all pairs of it.
SELECT 'w1' AS type, a.ts AS start, b.ts AS end, a.id AS id
FROM events a JOIN events b ON b.id = a.id AND b.ts > a.ts AND b.ts <= a.ts + 10000
WHERE a.type = 'A' AND b.type = 'B'
