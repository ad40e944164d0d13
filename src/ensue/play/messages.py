"""Messages between the server and its child processes: the length of a JSON text, then the text."""

from __future__ import annotations

import json
from typing import IO, Any

LENGTH = 8
"""Bytes that hold the length of a message."""


def write_message(stream: IO[bytes], message: dict[str, Any]) -> None:
    """Writes one message.

    >>> import io
    >>> stream = io.BytesIO()
    >>> write_message(stream, {"kind": "run"})
    >>> read_message(io.BytesIO(stream.getvalue()))
    {'kind': 'run'}
    """
    data = json.dumps(message).encode()
    stream.write(len(data).to_bytes(LENGTH, "big") + data)
    stream.flush()


def read_message(stream: IO[bytes]) -> dict[str, Any] | None:
    """Reads one message; None where the other side has ended."""
    head = stream.read(LENGTH)
    if len(head) < LENGTH:
        return None
    size = int.from_bytes(head, "big")
    data = stream.read(size)
    if len(data) < size:
        return None
    message: dict[str, Any] = json.loads(data)
    return message
