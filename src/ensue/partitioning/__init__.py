"""Partitioning: stages in which a program runs in parallel, the events that each reads, and their partitioning.

`chained` splits rules whose keys form a chain; `stages` cuts the rules into stages, one shuffle each; `stage_program`
is the program that runs in each partition of a stage.
"""

from ensue.partitioning.chaining import Chained, Joined, chained, hindrance
from ensue.partitioning.cuts import cuts_of
from ensue.partitioning.obstacles import Obstacle
from ensue.partitioning.plan import stages
from ensue.partitioning.stages import ByKey, ByRow, BySlices, Parting, Stage, Whole
from ensue.partitioning.subprogram import stage_program

__all__ = [
    "ByKey", "ByRow", "BySlices", "Chained", "Joined", "Obstacle", "Parting", "Stage", "Whole", "chained",
    "cuts_of", "hindrance", "stage_program", "stages",
]  # fmt: skip
