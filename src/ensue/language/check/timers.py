"""Timers of a body: each after the event or timer that it refers to."""

from __future__ import annotations

from ensue.language import syntax, typed
from ensue.language.check.patterns import Patterns
from ensue.language.check.scope import Label, Scope
from ensue.language.limits import MOST_TIMERS


class Timers(Patterns):
    """Checks the relative timers of one rule."""

    def timers(self, calls: list[tuple[syntax.Call, syntax.Name | None]], scope: Scope) -> tuple[typed.Timer, ...]:
        """Relative timers, each after the one it refers to."""
        if len(calls) > MOST_TIMERS:
            self.report.error(
                "E004", calls[MOST_TIMERS][0].span, f"this has {len(calls)} timers: there can be {MOST_TIMERS}",
                "move some of them to a separate rule, and use its head here",
            )  # fmt: skip
            self.expressions.incomplete = True
            calls = calls[:MOST_TIMERS]
        found: list[typed.Timer] = []
        reached: dict[str, int] = {}  # how far timers are at most from the event that the first of them refers to
        waiting = list(calls)
        while waiting:
            ready = [w for w in waiting if (owner := _timer_owner(w[0])) is None or scope.find_label(owner.text)]
            if not ready and self._report_circle(waiting):
                break
            for call, label in ready or waiting:
                timer = self._relative_timer(call, label, scope)
                if timer is not None:
                    found.append(timer)
                    length = max(abs(timer.start_shift), abs(timer.end_shift)) + reached.get(timer.of, 0)
                    length = self.declarations.not_too_long(
                        length, call.span, f"this timer is, with those before it, {length:,} long, which is"
                    )
                    if label is not None:
                        reached[label.text] = length
                if label is not None:
                    if label.text in scope.labels:
                        self._duplicate_label(label.text, label.span)
                    scope.labels[label.text] = Label(None, label.span)
            done = set(map(id, ready))
            waiting = [w for w in waiting if id(w) not in done] if ready else []
        return tuple(found)

    def _report_circle(self, waiting: list[tuple[syntax.Call, syntax.Name | None]]) -> bool:
        """Reports timers that refer to each other, and to no event."""
        labels = {label.text for _, label in waiting if label is not None}
        owners = [owner for call, _ in waiting if (owner := _timer_owner(call)) is not None]
        if any(owner.text not in labels for owner in owners):
            return False
        self.report.error(
            "E405", owners[0].span, f"the timer `{owners[0].text}` depends on itself",
            "a timer refers to a matched event, or to a timer that does",
        )  # fmt: skip
        self.expressions.incomplete = True
        return True

    def _relative_timer(self, call: syntax.Call, label: syntax.Name | None, scope: Scope) -> typed.Timer | None:
        name = call.name.text
        owner = _timer_owner(call)
        if owner is None or len(call.arguments) != 2:
            at = call.arguments[0].span if len(call.arguments) == 2 else call.span
            self.report.error(
                "E405", at, f"the timer `{name}` takes the name of a matched event, and a length of time",
                f"as in `o: order(id), w: {name}(o, 6h)`",
            )  # fmt: skip
            self.expressions.incomplete = True
            return None
        length = self.length(call.arguments[1].value)
        if length is None:
            example = f"as in `{name}({owner.text}, 6h)`"
            match call.arguments[1].value:
                case syntax.Literal(value=str()):
                    message, hint = "a length of time is written without quotes", example
                case syntax.Literal(value=float()):
                    message, hint = "a length of time is a whole number, or has a unit", example
                case _:
                    message = f"the length of the timer `{name}` must be a constant"
                    hint = f"{example}; other lengths are compared after `where`, `s.start - o.end < x`"
            self.report.error("E405", call.arguments[1].span, message, hint)
            return None
        if scope.find_label(owner.text) is None:
            self.report_no_label(owner, scope)
            return None
        if name != "shift" and length < 0:
            self.report.error(
                "E505", call.arguments[1].span, "with a negative length this timer would end before it starts",
                "use a length that is not negative; `extend_backward` and `preceding` reach back, and `shift` moves",
            )  # fmt: skip
        length = self.declarations.not_too_long(length, call.arguments[1].span)
        back = name in ("extend_backward", "preceding")
        shifts = (length, length) if name == "shift" else (-length, 0) if back else (0, length)
        return typed.Timer(
            next(self.ids), owner.text, *shifts, label.text if label else None, call.span,
            start_at_end=name == "following", end_at_start=name == "preceding",
        )  # fmt: skip

    def report_no_label(
        self, name: syntax.Name, scope: Scope, example: str = "order(id)", instead: str = "relate what is not collected"
    ) -> None:
        """Reports why a name stands for no matched event here; `instead` is the hint for collected ones."""
        self.expressions.report_no_event(name, scope, instead, example)


def _timer_owner(call: syntax.Call) -> syntax.Name | None:
    match call.arguments:
        case (syntax.Argument(value=syntax.Name() as owner, name=None), *_):
            return owner
        case _:
            return None
