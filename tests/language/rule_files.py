"""Valid rule files to start from: the snippets of the language reference with the declarations they need."""

from __future__ import annotations

RULE_FILES: dict[str, str] = {
    "orders": """
        # comments run to the end of the line
        event order(id: int, product: string, qty: int).
        event shipped(id: int, tracking: string).

        comp(id, product) <- o: order(id, product, q), s: shipped(id, t), o before s.

        test "an order that ships is complete"
          given order(42, "muffins", 2) @ 3, shipped(42, "x") @ 7
          expect comp(42, "muffins") @ [3, 7].

        test "nothing ships before it is ordered"
          given shipped(7, "z") @ 1, order(7, "tea", 1) @ 2
          expect no comp.
    """,
    "alarms": """
        event hot(x: int).
        event smoke(x: int) instant.
        alarm(x) from e <- e: hot(x), w: extend_backward(e, 10), while w: not alarm(x).
        both(x, y) <- hot(x) and smoke(y).
        either(x) <- hot(x) or smoke(x).
        together(x) <- hot(x) par hot(x).
        nested(x) <- smoke(x) seq (hot(x) seq smoke(x)) within 10.
        lone(x) <- hot(x) where not x = 3 lasting 5.
        `in`(`the x` = x) <- hot(x), x > 2, is_not_null(x).
    """,
    "prices": """
        unit s.
        event tick(s: string, p: float).
        price_alarm(s, p2) <- tick(s, p1) seq tick(s, p2) where p2 > p1 * 1.05 within 10s.
        loud(t = upper(concat(s, " ", p))) <- tick(s, p) where matches(s, "^A.*") and p // 2 >= 1 or p % 3 < -1.5e3.
    """,
    "time": """
        unit s.
        keep 7d.
        event order_arrival(order: int).
        event delivery(order: int).
        event machine_overheated(m: string).
        event machine_failed(m: string).
        pizza_for_free(order) <- o: order_arrival(order), d: delivery(order), o before[1h..] d.
        machine_alert(m) <- machine_overheated(m) before[..5m] machine_failed(m).
        close(m) <- machine_overheated(m) during[1..3, 2..5] machine_failed(m).
        closer(m) <- machine_overheated(m) contains[1, 3, 2, 5] machine_failed(m).
        back(m) <- machine_overheated(m) after[-4s..4s] machine_failed(m).
        touching(m) <- machine_overheated(m) meets[2] machine_failed(m).
        same(m) <- machine_overheated(m) equals[2] machine_failed(m).
        noon() <- at("2026-12-25T12:00:00Z").
        pulse(m) <- machine_overheated(m) seq every(1h30m).
        later(m) <- o: machine_overheated(m), w: shift(o, 6h), f: machine_failed(m), f during w.
    """,
    "contexts": """
        event admit(p: string).
        event doctor(d: string).
        event a(x: int).
        event b(y: int).
        alert(d, n = count(p)) <- cumulative admit(p) seq doctor(d).
        pairs(d) <- cumulative/chronicle admit(p) and recent/chronicle doctor(d).
        newest(x, y) <- recent a(x) seq b(y).
        offered(x, y) <- chronicle a(x) seq continuous b(y) on x < y where x > 0.
        all_recent(x, y) <- a(x) seq b(y) policy snoop_recent.
        few(x, y) <- a(x) seq b(y) without a(_) within 10 policy restricted.
    """,
    "absence": """
        unit s.
        event order(id: int, product: string, qty: int).
        event shipped(id: int, tracking: string).
        event login_ok(user: string).
        event login_failed(user: string).
        event e(id: int, x: float).
        overdue(id) <- o: order(id, p, q), w: extend(o, 6h),  while w: not shipped(id, _), q < 10.
        overdue(id) <- o: order(id, p, q), w: extend(o, 12h), while w: not shipped(id, _), q >= 10.
        rep(count(sid)) <- o: overdue(oid), w: extend_backward(o, 24h), while w: collect shipped(sid, t).
        moving(id, avg(x)) <- while last 1000: collect e(id, x).
        brute(user, n = count(f)) <- s: login_ok(user), w: extend_backward(s, 5m),
            while w: collect f: login_failed(user)
            where count(f) >= 5.
        between(id) <- order(id, _, _) seq shipped(id, _)+ seq order(id, _, _).
        maybe(id, n = count(t)) <- order(id, _, _) seq shipped(id, t)* seq order(id, _, _).
        some(id, n = list(t)) <- order(id, _, _) seq shipped(id, t){2,5} seq order(id, _, _).
        three(id, max(x)) <- e(id, x){3}.

        test "a small order is overdue after six hours"
          given order(1, "tea", 2) @ 0h until 7h
          expect overdue(1) @ [0h, 6h].
    """,
    "recursion": """
        event day_start().
        event sell(item: string, price: int).
        event stock(i: string, p: float).
        income(total = 0) <- day_start().
        income(total = a + b) <- recent income(a) seq sell(item, b).
        big_income() <- income(t) where t > 100000.
        so_far(total = sum(p)) <- while since day_start(): collect sell(item, p).
        hourly(n = count(p)) <- while each 60: collect sell(item, p).

        down(i, p1, p2) <- not stock(i, _) in [stock(i, p1), stock(i, p2)] where p1 < p2.
        down(i, p1, p3) <- not stock(i, _) in [down(i, p1, p2), stock(i, p3)] where p2 > p3.
    """,
    "knowledge": """
        table linked(a: string, b: string).
        event shipment(site: string).
        linked("site3", "site4").
        linked("site4", "site5").
        in_chain(x, y) :- linked(x, y).
        in_chain(x, z) :- linked(x, y), in_chain(y, z).
        apart(x, y) :- linked(x, _), linked(_, y), not in_chain(x, y), x != y.

        rule first: delivery(origin = "start", site = "start") <- shipment("start").
        delivery(origin, site) <- recent delivery(origin, prev) seq shipment(site) on in_chain(prev, site).
        vip("site3").
        on delivery(origin, site) if vip(site) do notify(origin, concat("to ", site)).
    """,
}
