"""State of a bucket of a stage, in Spark's state store: events that wait, and the state of the engine.

Three states of Spark's hold it. ``about`` is one short text, which describes the others. ``waiting`` has the
events whose time is not complete, in pieces by time, each written once and removed when its last event is over.
``session`` is the engine's state, written when it changed, and how much each part of the rules keeps in it.

The worker that wrote a session keeps it in memory under its checksum. Where the same worker goes on with the bucket, it
need not be read; and a session of a failed batch is under a checksum that is never looked up.
"""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import asdict, astuple, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ensue.engine.state import StateError, seal, unseal
from ensue.live.session import Session
from ensue.records import dataclass
from ensue.spark.packing import unpacked

if TYPE_CHECKING:
    from pyspark.sql.streaming.stateful_processor import StatefulProcessorHandle

FORMAT = 1
"""Version of the format of this state."""
KEPT = 64
"""Number of sessions that a worker keeps in memory."""

_sessions: OrderedDict[str, Session] = OrderedDict()


@dataclass(frozen=True)
class Piece:
    """Events that wait, by their ends."""

    number: int
    first: int
    last: int
    rows: int


@dataclass
class About:
    """Summary of a bucket that is read without the rest; it begins with the rules and the stage it belongs to."""

    job: str
    """The rules as a text."""
    name: str
    wanted: list[str]
    stage: int
    buckets: int
    form: str
    fingerprint: str
    format: int = FORMAT
    time: int | None = None
    """Time up to which it has been evaluated."""
    due: int | None = None
    """Next time at which something ends without a new event."""
    timer: int | None = None
    first: int | None = None
    """The smallest end of all events, where that matters."""
    received: int = 0
    late: int = 0
    pieces: list[Piece] = field(default_factory=list)
    next_piece: int = 0
    session: str | None = None
    """The checksum of the engine's state."""
    size: int = 0
    """The bytes of the engine's state."""

    def text(self) -> str:
        return json.dumps(asdict(self))

    @staticmethod
    def read(text: str) -> About:
        values = json.loads(text)
        if values.get("format") != FORMAT:
            raise StateError(
                f"The checkpoint was written by another version of ensue (format {values.get('format')}, this one "
                f"reads {FORMAT}). Go on with that version, or start with a new checkpoint."
            )
        return About(**{**values, "pieces": [Piece(**piece) for piece in values["pieces"]]})


class Store:
    """The states of all buckets that a task works on; Spark knows which one is meant."""

    def __init__(self, handle: StatefulProcessorHandle) -> None:
        self._handle = handle
        self._about = handle.getValueState("about", "text string")
        self._waiting = handle.getMapState("waiting", "piece bigint", "rows binary")
        self._session = handle.getValueState("session", "state binary")

    def about(self) -> About | None:
        kept = self._about.get()
        return None if kept is None else About.read(kept[0])

    def save(self, about: About, fires: int | None) -> None:
        """Saves the summary, and registers a timer for when the watermark reaches `fires`, in milliseconds."""
        if fires != about.timer:
            if about.timer is not None:
                self._handle.deleteTimer(about.timer)
            if fires is not None:
                self._handle.registerTimer(fires)
            about.timer = fires
        self._about.update((about.text(),))

    # --- events that wait

    def add(self, about: About, blob: bytes, rows: int, first: int, last: int) -> None:
        """Keeps packed events until their time is complete."""
        piece = Piece(about.next_piece, first, last, rows)
        about.next_piece += 1
        about.pieces.append(piece)
        self._waiting.updateValue((piece.number,), (blob,))

    def due(self, about: About, time: int) -> Iterator[pa.Table]:
        """The pieces with events that end up to a time; those with no others are forgotten."""
        kept = []
        for piece in about.pieces:
            if piece.first <= time:
                found = self._waiting.getValue((piece.number,))
                if found is None:
                    raise StateError("The checkpoint is damaged: events that wait are missing. Start with a new one.")
                yield unpacked(bytes(found[0]))
            if piece.last <= time:
                self._waiting.removeKey((piece.number,))
            else:
                kept.append(piece)
        about.pieces = kept

    # --- the engine

    def resume(self, about: About, session: Session) -> Session:
        """The session as it was left; `session` is a new one, for where the state must be read."""
        kept = None if about.session is None else _sessions.pop(about.session, None)
        if kept is not None:
            return kept
        found = self._session.get()
        if found is None:
            raise StateError("The checkpoint is damaged: the engine's state is missing. Start with a new one.")
        session.restore(state_of(bytes(found[0]), about.fingerprint))
        return session

    def keep(self, about: About, session: Session) -> None:
        """Saves the state of a session."""
        whole = {**session.state(), "sizes": [astuple(size) for size in session.sizes()]}
        state = pa.compress(seal(whole, bytes.fromhex(about.fingerprint)), "zstd", asbytes=True)
        about.session = hashlib.sha256(state).hexdigest()
        about.size = len(state)
        self._session.update((state,))
        _sessions[about.session] = session
        if len(_sessions) > KEPT:
            _sessions.popitem(last=False)


def state_of(data: bytes, fingerprint: str) -> Any:
    """The engine's state in saved bytes."""
    buffer = pa.py_buffer(data)
    with pa.CompressedInputStream(pa.BufferReader(buffer), "zstd") as stream:
        return unseal(stream.read(), bytes.fromhex(fingerprint))
