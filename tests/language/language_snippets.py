"""Rule sets in the words of the language's own description, each of which parses."""

SNIPPETS = (
    """\
# comments run to the end of the line
event order(id: int, product: string, qty: int).
event shipped(id: int, tracking: string).

comp(id, product) <- o: order(id, product, q), s: shipped(id, t), o before s.
""",
    """\
event tick(s: string, p: float) instant.
table vip(id: int).
vip(1).
vip(id = 2).
rule late: overdue(id) <- order(id=i, qty=q), order(), order where least(i, q) > 3 and not lower("A") = "a".
big(total = a + b) <- c(a), d(b) where a / b > 1.5 or a // b = 2 or coalesce(a, null) <> b.
""",
    """\
alarm(x) from e <- e: hot(x), w: extend_backward(e, 10), while w: not alarm(x).
""",
    """\
both(x) <- a(x) and b(x).
either(x) <- a(x) or b(x).
nested(x) <- b(x) seq (a(x) seq c(x) within 10).
together(x) <- a(x) par b(x) lasting 1h30m.
clean(x) <- a(x) without b(x) policy restricted.
price_alarm(s, p2) <- tick(s, p1) seq tick(s, p2) where p2 > p1 * 1.05 within 10s.
""",
    """\
pizza_for_free(order) <- o: order_arrival(order), d: delivery(order), o before[1h..] d.
machine_alert(m) <- machine_overheated(m) before[..5m] machine_failed(m).
""",
    """\
r1() <- a before[1h] b.
r2() <- a before[1m..2m] b.
r3() <- a during[1..3, 2..5] b.
r4() <- a during[1, 3, 2, 5] b.
r5() <- a equals[2] b.
r6() <- a after[-4s..4s] b.
r7() <- a meets b.
r8() <- a met_by b.
r9() <- a overlaps b.
r10() <- a overlapped_by b.
r11() <- a starts b.
r12() <- a started_by b.
r13() <- a contains b.
r14() <- a finishes b.
r15() <- a finished_by b.
""",
    """\
reminder(o) <- o: order(), w: extend(o, 6h), x: shift(w, 250ms), at("2026-12-25T12:00:00Z"), every(1d).
""",
    """\
a1(x) <- recent a(x) seq b(y).
a2(x) <- chronicle a(x) seq continuous b(y).
a3(p, d) <- cumulative/chronicle admit(p) and recent/chronicle doctor(d).
alert(d, n = count(p)) <- cumulative admit(p) seq doctor(d).
a4(x) <- a(x) seq b(x) policy snoop_recent.
""",
    """\
several(n = count(p)) <- a seq p+ seq b.
some(n = count(p)) <- a seq p* seq b.
three() <- p{3}.
few() <- a seq p{2,5} seq b.
""",
    """\
unit s.
overdue(id) <- o: order(id, p, q), w: extend(o, 6h),  while w: not shipped(id, _), q < 10.
overdue(id) <- o: order(id, p, q), w: extend(o, 12h), while w: not shipped(id, _), q >= 10.
rep(count(sid)) <- o: overdue(oid), w: extend_backward(o, 24h), while w: collect shipped(sid, t).
moving(id, avg(x)) <- while last 1000: collect e(id, x).
lately(id, avg(x)) <- while last 3m: collect e(id, x).
spans(id, avg(x)) <- while each 5m: collect e(id, x).
brute(user, n = count(f)) <- s: login_ok(user), w: extend_backward(s, 5m), while w: collect f: login_failed(user)
    where count(f) >= 5.
""",
    """\
income(total = 0) <- day_start().
income(total = a + b) <- recent income(a) seq sell(item, b).
big_income() <- income(t) where t > 100000.
so_far(total = sum(p)) <- while since day_start(): collect sell(item, p).

down(i, p1, p2) <- not stock(i, _) in [stock(i, p1), stock(i, p2)] where p1 < p2.
down(i, p1, p3) <- not stock(i, _) in [down(i, p1, p2), stock(i, p3)] where p2 > p3.
""",
    """\
table linked(a: string, b: string).
linked("site3", "site4").
linked("site4", "site5").
in_chain(x, y) :- linked(x, y).
in_chain(x, z) :- linked(x, y), in_chain(y, z).

delivery(origin = "start", site = "start") <- shipment("start").
delivery(origin, site) <- recent delivery(origin, prev) seq shipment(site) on in_chain(prev, site).
""",
    """\
test "an order that ships is complete"
  given order(42, "muffins", 2) @ 3, shipped(42, "x") @ 7
  expect comp(42, "muffins") @ [3, 7].

test "a small order is overdue after six hours"
  given order(1, "tea", 2) @ 0h until 7h
  expect overdue(1) @ [0h, 6h].

test "nothing ships before it is ordered"
  given shipped(7, "z") @ 1, order(7, "tea", 1) @ 2
  expect no comp.

test "a list"
  given e(1) @ "2026-12-25T12:00:00Z"
  expect all([1, 2]) @ 3, no comp.
""",
    """\
on overdue(id) if vip(id) do notify(id).
on overdue do notify().
""",
)
