"""Options of `Program.detect` that mean something else on Spark, or nothing: reported at once, never ignored."""

from __future__ import annotations

import warnings

from ensue.data.errors import DataError, shortened
from ensue.errors import NoEffectWarning
from ensue.request import DEFAULT_ENGINE, Request


def check_options(request: Request) -> None:
    """Rejects options that Spark tables do not support, and suggests others."""
    _check_common(request)
    slices: object = request.slices
    if slices is not None and (not isinstance(slices, int) or isinstance(slices, bool) or slices < 1):
        raise DataError(f"`slices` is {shortened(slices)}; it is a number of slices, at least one.")
    streams = {"buckets": request.buckets, "heartbeat": request.heartbeat, "max_ahead": request.max_ahead}
    for name, given in streams.items():
        if given is not None:
            raise DataError(f"`{name}` is for streams, and this frame is a table: leave it out.")
    if request.lateness:
        warnings.warn(
            "`lateness` counts where events come as a stream. A table is put in order, so it has no effect.",
            NoEffectWarning,
            stacklevel=6,
        )


def check_stream_options(request: Request) -> None:
    """Rejects options that streams do not support, and suggests others."""
    _check_common(request)
    if request.slices is not None:
        raise DataError("`slices` is for tables, and this is a stream: leave it out.")
    if request.provenance:
        raise DataError(
            "Rows of a stream have no numbers, so `provenance` has none to give. Have the rules hand on an attribute "
            "that tells events apart."
        )


def _check_common(request: Request) -> None:
    if request.on_bad_row is not None:
        raise DataError(
            "`on_bad_row` cannot be called on Spark, where rows are looked at by others and later. "
            "Ask for them with rejected=True, or have the first one fail the job with strict=True."
        )
    if request.engine != DEFAULT_ENGINE:
        raise DataError(
            f"Spark runs the engine {DEFAULT_ENGINE!r} where the data is; for {request.engine!r} pass df.toArrow()."
        )
