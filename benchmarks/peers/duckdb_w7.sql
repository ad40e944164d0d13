-- Iteration. A run falls from one turn (a tick not below the one before it) to the next, so the turns alone decide:
-- how many ticks lie between two of them, and whether the second is higher. Slower: runs as groups with aggregates
-- (3.3 times), a recursive query over numbered ticks (1.7). The same: symbols as lists.
WITH ticks AS (
       SELECT sym, ts, price, lag(price) OVER w AS q, lag(ts) OVER w AS before, row_number() OVER w AS i
       FROM stock
       WINDOW w AS (PARTITION BY sym ORDER BY ts)),
     turns AS (
       SELECT sym, before, price, i, lead(i) OVER w AS j, lead(price) OVER w AS p, lead(ts) OVER w AS "end"
       FROM ticks
       WHERE price >= q
       WINDOW w AS (PARTITION BY sym ORDER BY i))
SELECT sym, before AS start, "end" FROM turns WHERE p > price AND j - i >= 3
