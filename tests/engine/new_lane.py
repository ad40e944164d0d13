"""Which lanes a program runs in, for tests of generated code."""

from ensue.engine.generated import GeneratedLane
from ensue.engine.run import Run


def is_generated(program, provenance=False):
    """Whether all strata of a program are generated code."""
    lanes = Run(program.typed, compiled=False, provenance=provenance).lanes
    return all(isinstance(lane, GeneratedLane) for lane in lanes)
