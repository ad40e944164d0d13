"""Time that passes where no event comes: a source of Spark's that ticks with the clock on the wall."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from ensue.data import DataError
from ensue.data.moments import Length, length_of
from ensue.language.build import MICROSECONDS
from ensue.records import dataclass
from ensue.spark.clock import Clock
from ensue.spark.packing import CLOCK

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_SECOND = 1_000_000


@dataclass(frozen=True)
class Heartbeat:
    """Interval at which the clock advances the watermark, in microseconds, and the unit of the events' times.

    >>> Heartbeat.of("1m", None, Clock(timestamps=True))
    Heartbeat(every=60000000, unit=1, clock=Clock(timestamps=True))
    """

    every: int
    unit: int
    clock: Clock

    @staticmethod
    def of(every: Length, unit: str | None, clock: Clock) -> Heartbeat:
        """`unit` is the rules' unit of integer times, which count from 1970 then."""
        if isinstance(every, int) and not isinstance(every, bool):
            raise DataError(f"The heartbeat is {every!r}; write how often it comes, as in 10s.")
        length = length_of(every, "us", timestamps=True, what="the heartbeat")
        if length <= 0:
            raise DataError(f"The heartbeat is {every!r}; it must be longer than 0.")
        if not clock.timestamps and unit is None:
            raise DataError(
                "The times of these events are plain integers, so a clock cannot tell them. State their unit, as in "
                "`unit s.`, if they count from 1970; or leave the heartbeat out."
            )
        return Heartbeat(length, 1 if clock.timestamps or unit is None else MICROSECONDS[unit], clock)

    def rows(self, spark: SparkSession) -> DataFrame:
        """Packed rows that carry the time alone."""
        ticks = spark.readStream.format("rate").option("rowsPerSecond", max(1, ceil(_SECOND / self.every))).load()
        if self.every > _SECOND:
            ticks = ticks.where(f"value % {self.every // _SECOND} = 0")
        time = f"unix_micros(timestamp) div {self.unit} div {self.clock.unit} + {self.clock.moved}"
        return ticks.selectExpr("0 as bucket", "0 as stage", f"'{CLOCK}' as kind", f"{time} as clock")
