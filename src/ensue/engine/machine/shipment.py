"""Object code for other machines, so that they need not compile it.

A shipment names the kind of machine it was made for, and the texts of each piece of code. It is used where both match
and the code is intact; other machines compile their own.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Iterable

from ensue.engine.machine.compilation import FULL, PASSES, processor, version
from ensue.engine.machine.store import cached_object, kept_object
from ensue.engine.machine.texts import Texts
from ensue.records import dataclass

MOST = 512
"""Pieces of code that are remembered; a worker of a cluster may serve one job after the other."""


@dataclass(frozen=True)
class Piece:
    """Object code of one unit, with the hash of the texts it was made from and its own."""

    texts: str
    code: bytes
    hash: bytes

    @property
    def is_whole(self) -> bool:
        return hashlib.sha256(self.code).digest() == self.hash


@dataclass(frozen=True)
class Shipment:
    """Object code for one kind of machine."""

    machine: tuple[str, ...]
    pieces: tuple[Piece, ...]


NOTHING = Shipment((), ())

_received: OrderedDict[tuple[tuple[str, ...], str], Piece] = OrderedDict()


def this_machine() -> tuple[str, ...]:
    """The kind of this machine, as far as object code depends on it: processor, LLVM, and its settings."""
    return (*processor(), version() or "", *PASSES)


def shipped(units: Iterable[tuple[Texts, int]]) -> Shipment:
    """Compile units for a shipment, each at least at a level; fully optimised code is taken from the cache."""
    pieces = []
    for unit, level in units:
        code = kept_object(unit, FULL) or cached_object(unit, level)
        pieces.append(Piece(unit.digest, code, hashlib.sha256(code).digest()))
    return Shipment(this_machine(), tuple(pieces))


def receive(shipment: Shipment) -> None:
    """Remember the code of a shipment. It is checked when some of it is used."""
    for piece in shipment.pieces:
        place = shipment.machine, piece.texts
        _received[place] = piece
        _received.move_to_end(place)
    while len(_received) > max(MOST, len(shipment.pieces)):
        _received.popitem(last=False)


def received(unit: Texts) -> bytes | None:
    """Object code of a unit that came in a shipment for this kind of machine."""
    if not _received:
        return None
    piece = _received.get((this_machine(), unit.digest))
    return piece.code if piece is not None and piece.is_whole else None
