"""From the operators of a plan to those of generated code."""

from __future__ import annotations

from ensue.engine.generate.operator import Operator
from ensue.engine.generate.unit import Unit
from ensue.engine.operators.alternatives import Alternatives, Distinct
from ensue.engine.operators.clock import Clock
from ensue.engine.operators.join import Join
from ensue.engine.operators.look_up import LookUp, Nothing
from ensue.engine.operators.ordered import in_order
from ensue.engine.operators.restrict import Named, Restrict, Spanned
from ensue.engine.operators.scan import Scan
from ensue.engine.operators.scope import Absent, Gather
from ensue.engine.operators.wait import Wait
from ensue.plan import operators as plan


def build(unit: Unit, node: plan.Operator, layer: int) -> Operator:
    """The operator of a plan's operator, on top of those of its inputs."""
    match node:
        case plan.Scan():
            return Scan(unit, node, layer)
        case plan.Clock():
            return Clock(unit, node, layer)
        case plan.Join():
            left, right = build(unit, node.left, layer), build(unit, node.right, layer)
            endings = [build(unit, ending.input, layer) for ending in node.endings]
            return Join(unit, node, left, right, endings, layer)
        case plan.Alternatives():
            inputs = [build(unit, each, layer) for each in node.inputs]
            either = Alternatives(unit, node, inputs, layer)
            return Distinct(unit, node.pattern, either, layer, spans=True)
        case plan.Spanned():
            return Spanned(unit, node, build(unit, node.input, layer), layer)
        case plan.Named():
            return Named(unit, node, build(unit, node.input, layer), layer)
        case plan.Nothing():
            return Nothing(unit, layer)
        case plan.LookUp():
            return LookUp(unit, node, build(unit, node.input, layer), layer)
        case plan.Wait():
            return Wait(unit, node, build(unit, node.input, layer), layer)
        case plan.Restrict():
            return Restrict(unit, node, build(unit, node.input, layer), layer)
        case plan.Absent():
            inner = build(unit, node.inner, layer)
            return Absent(unit, "absent", node, build(unit, node.input, layer), inner, layer)
        case plan.Gather():
            inner = build(unit, node.inner, layer)
            return Gather(unit, node, build(unit, node.input, layer), in_order(unit, inner, layer), layer)
        case plan.Distinct():
            return Distinct(unit, node.pattern, build(unit, node.input, layer), layer, spans=False)
        case _:
            raise plan.NotPlannedError(f"the operator {type(node).__name__}")
