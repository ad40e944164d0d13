"""From the operators of a plan to those of generated code, each imported when a plan first has it."""

from __future__ import annotations

from ensue.engine.generate.operator import Operator
from ensue.engine.generate.unit import Unit
from ensue.engine.operators.join import Join
from ensue.engine.operators.restrict import Named, Restrict, Spanned
from ensue.engine.operators.scan import Scan
from ensue.plan import operators as plan


def build(unit: Unit, node: plan.Operator, layer: int) -> Operator:
    """The generated operator of an operator of the plan, on top of those of its inputs; the unit records it."""
    before = len(unit.operators)
    found = unit.outputs[id(node)] = _built(unit, node, layer)
    for each in unit.operators[before:]:
        if each.built_for is None:
            each.built_for = node
    return found


def _built(unit: Unit, node: plan.Operator, layer: int) -> Operator:
    match node:
        case plan.Scan():
            return Scan(unit, node, layer)
        case plan.Clock():
            from ensue.engine.operators.clock import Clock

            return Clock(unit, node, layer)
        case plan.Join():
            left, right = build(unit, node.left, layer), build(unit, node.right, layer)
            endings = [build(unit, ending.input, layer) for ending in node.endings]
            return Join(unit, node, left, right, endings, layer)
        case plan.Choose():
            from ensue.engine.operators.choose import choose

            left, right = build(unit, node.left, layer), build(unit, node.right, layer)
            return choose(unit, node, left, right, layer)
        case plan.Alternatives():
            from ensue.engine.operators.alternatives import Alternatives, Distinct

            inputs = [build(unit, each, layer) for each in node.inputs]
            either = Alternatives(unit, node, inputs, layer)
            return Distinct(unit, node.pattern, either, layer, spans=True)
        case plan.Repeat():
            from ensue.engine.operators.ordered import in_order
            from ensue.engine.operators.repeat import Repeat

            return Repeat(unit, node, in_order(unit, build(unit, node.input, layer), layer), layer)
        case plan.Spanned():
            return Spanned(unit, node, build(unit, node.input, layer), layer)
        case plan.Named():
            return Named(unit, node, build(unit, node.input, layer), layer)
        case plan.Nothing():
            from ensue.engine.operators.look_up import Nothing

            return Nothing(unit, layer)
        case plan.LookUp():
            from ensue.engine.operators.look_up import LookUp

            return LookUp(unit, node, build(unit, node.input, layer), layer)
        case plan.Wait():
            from ensue.engine.operators.wait import Wait

            return Wait(unit, node, build(unit, node.input, layer), layer)
        case plan.Window():
            from ensue.engine.operators.ordered import in_order
            from ensue.engine.operators.window import Window
            from ensue.engine.operators.window_kinds import kind_of

            collected = in_order(unit, build(unit, node.collected, layer), layer)
            beginning = None
            if node.beginning is not None:
                beginning = in_order(unit, build(unit, node.beginning, layer), layer)
            return Window(unit, node, build(unit, node.input, layer), collected, beginning, layer, kind_of)
        case plan.Restrict():
            return Restrict(unit, node, build(unit, node.input, layer), layer)
        case plan.Absent(inner=plan.Anew() as anew):
            from ensue.engine.operators.anew import Anew
            from ensue.engine.operators.scope import Absent

            input_ = build(unit, node.input, layer)
            return Absent(unit, "absent", node, input_, Anew(unit, anew, input_, layer, build, ordered=False), layer)
        case plan.Gather(inner=plan.Anew() as anew):
            from ensue.engine.operators.anew import Anew
            from ensue.engine.operators.scope import Gather

            input_ = build(unit, node.input, layer)
            return Gather(unit, node, input_, Anew(unit, anew, input_, layer, build, ordered=True), layer)
        case plan.Seeing():
            from ensue.engine.operators.anew import Seeing

            return Seeing(unit, node, build(unit, node.input, layer), layer)
        case plan.Absent():
            from ensue.engine.operators.scope import Absent

            inner = build(unit, node.inner, layer)
            return Absent(unit, "absent", node, build(unit, node.input, layer), inner, layer)
        case plan.Gather():
            from ensue.engine.operators.ordered import in_order
            from ensue.engine.operators.scope import Gather

            inner = build(unit, node.inner, layer)
            return Gather(unit, node, build(unit, node.input, layer), in_order(unit, inner, layer), layer)
        case plan.Latest():
            from ensue.engine.operators.restricted import latest

            several = node.input.inputs if isinstance(node.input, plan.Alternatives) else (node.input,)
            return latest(unit, node, [build(unit, each, layer) for each in several], layer)
        case plan.RestrictedAnd():
            from ensue.engine.operators.restricted_and import RestrictedAnd

            left, right = build(unit, node.left, layer), build(unit, node.right, layer)
            return RestrictedAnd(unit, node, left, right, layer)
        case plan.RestrictedSequence():
            from ensue.engine.operators.restricted_sequence import RestrictedSequence

            left, right = build(unit, node.left, layer), build(unit, node.right, layer)
            return RestrictedSequence(unit, node, left, right, layer)
        case plan.RestrictedWithout():
            from ensue.engine.operators.restricted_without import RestrictedWithout

            inner = build(unit, node.inner, layer)
            return RestrictedWithout(unit, node, build(unit, node.input, layer), inner, layer)
        case plan.Distinct():
            from ensue.engine.operators.alternatives import Distinct

            return Distinct(unit, node.pattern, build(unit, node.input, layer), layer, spans=False)
        case plan.Keep():
            from ensue.engine.operators.shared import Keeping

            return Keeping(unit, node, build(unit, node.input, layer), layer)
        case plan.Shared():
            from ensue.engine.operators.shared import View

            return View(unit, node, unit.shared[node.name], layer)
        case _:
            raise plan.NotPlannedError(f"the operator {type(node).__name__}")
