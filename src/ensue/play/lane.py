"""A child process that answers one request after the other, and is killed where it takes too long.

Of requests of one kind the newest counts: one that still waits is dropped, and one that has run for a while is ended
together with its process. So a rule that never ends costs its time limit at most, and typing on costs nothing.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import threading
import time
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import field
from typing import IO, Any

from ensue.play.messages import read_message, write_message
from ensue.records import dataclass

PATIENCE = 0.5
"""Seconds for which a request runs on although a newer one waits: starting a new process takes longer."""

START_SECONDS = 60.0
"""Seconds in which a process must have started."""

SUPERSEDED = {"superseded": True}


@dataclass(frozen=True)
class Limits:
    """The limits of one request."""

    seconds: float = 10.0
    memory: int = 2 * 10**9
    """Bytes of a process, where the system can limit that."""


@dataclass
class Child:
    """A process, and which events it has already."""

    process: subprocess.Popen[bytes]
    events: str | None = None
    ready: bool = False

    @property
    def inwards(self) -> IO[bytes]:
        assert self.process.stdin is not None
        return self.process.stdin

    @property
    def outwards(self) -> IO[bytes]:
        assert self.process.stdout is not None
        return self.process.stdout

    def end(self) -> None:
        """Ends the process, and closes its pipes; nobody must be reading from them."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.inwards, self.outwards):
            with suppress(OSError):
                pipe.close()


@dataclass(frozen=True)
class Given:
    """Events as JSON lines, with a name that other events do not have."""

    version: str
    text: str


@dataclass
class _Running:
    kind: str
    ticket: int
    since: float
    ended_by: str | None = None
    """``time``, or ``newer``: why its process was killed."""


@dataclass
class Lane:
    """One process at a time, which is replaced when it has been killed."""

    limits: Limits = field(default_factory=Limits)
    evaluates: bool = True
    """False for one that only answers the editor, and so need not prepare to run rules."""
    _child: Child | None = None
    _running: _Running | None = None
    _closed: bool = False
    _newest: dict[str, int] = field(default_factory=dict)
    _tickets: itertools.count[int] = field(default_factory=itertools.count)
    _turn: threading.Condition = field(default_factory=threading.Condition)

    def start(self) -> None:
        """Starts the process, so that the first request need not wait for it."""
        with self._turn:
            if self._child is None and not self._closed:
                self._child = _started(self.limits, self.evaluates)

    def close(self) -> None:
        """Ends the process; nothing is answered from then on."""
        with self._turn:
            self._closed = True
            self._kill("newer")

    def ask(
        self, kind: str, request: Mapping[str, Any], given: Given | None = None, ends: Collection[str] = ()
    ) -> dict[str, Any]:
        """The answer to a request; a dict with `failure` where there is none, or `superseded`.

        `ends` are other kinds of requests that are not worth going on with once this one waits.
        """
        running = self._wait_for_turn(kind, {kind, *ends})
        if running is None:
            return dict(SUPERSEDED)
        timer: threading.Timer | None = None
        child: Child | None = None
        answer: dict[str, Any] | None = None
        try:
            child = self._child_for_request()
            _wait_until_ready(child)
            timer = threading.Timer(self.limits.seconds, self._out_of_time, (running,))
            timer.daemon = True
            timer.start()
            message = {"kind": kind, **request}
            if given is not None:
                message["version"] = given.version
                if child.events != given.version:
                    message["events"] = given.text
                    child.events = given.version
            write_message(child.inwards, message)
            answer = read_message(child.outwards)
        except OSError:  # the process is gone
            pass
        finally:
            if timer is not None:
                timer.cancel()
            self._end_turn(child)
        return answer if answer is not None else self._why_not(running)

    def _wait_for_turn(self, kind: str, ends: Collection[str]) -> _Running | None:
        with self._turn:
            ticket = next(self._tickets)
            self._newest[kind] = ticket
            self._turn.notify_all()
            while self._running is not None and self._newest[kind] == ticket and not self._closed:
                if self._running.kind not in ends:
                    self._turn.wait()
                    continue
                left = self._running.since + PATIENCE - time.monotonic()
                if left > 0:
                    self._turn.wait(left)
                else:
                    self._kill("newer")
                    self._turn.wait()  # until whoever runs has noticed
            if self._newest[kind] != ticket or self._closed:
                return None
            self._running = running = _Running(kind, ticket, time.monotonic())
            return running

    def _child_for_request(self) -> Child:
        with self._turn:
            if self._child is not None and self._child.process.poll() is not None:
                self._child.end()
                self._child = None
            if self._child is None:
                self._child = _started(self.limits, self.evaluates)
            return self._child

    def _end_turn(self, child: Child | None) -> None:
        with self._turn:
            self._running = None
            if child is not None and child is not self._child:
                child.end()  # it was killed
            if self._child is None and not self._closed:
                self._child = _started(self.limits, self.evaluates)  # for the next one
            self._turn.notify_all()

    def _out_of_time(self, running: _Running) -> None:
        with self._turn:
            if self._running is running:
                self._kill("time")

    def _kill(self, reason: str) -> None:
        """Kills the process; whoever waits for its answer reads the end of its output, and closes it."""
        child, self._child = self._child, None
        if child is None:
            return
        if self._running is None:
            child.end()
        else:
            self._running.ended_by = reason
            child.process.kill()

    def _why_not(self, running: _Running) -> dict[str, Any]:
        if running.ended_by == "time":
            return {
                "failure": f"Stopped after {self.limits.seconds:g} seconds. Let the events of a rule share a variable, "
                "bound it with `within`, or try fewer events; `ensue play --seconds` allows more."
            }
        if running.ended_by == "newer":
            return dict(SUPERSEDED)
        return {
            "failure": "The evaluation ended without an answer, most likely for want of memory. Let the events of a "
            "rule share a variable, bound it with `within`, or try fewer events; `ensue play --memory` allows more."
        }


def _wait_until_ready(child: Child) -> None:
    """Waits until a process has imported all it needs, which is not part of the time that a request takes."""
    if child.ready:
        return
    timer = threading.Timer(START_SECONDS, child.process.kill)
    timer.daemon = True
    timer.start()
    child.ready = read_message(child.outwards) is not None
    timer.cancel()
    if not child.ready:
        raise OSError("the process did not start")


def _started(limits: Limits, evaluates: bool) -> Child:
    """A new process. Its errors are shown only to those who look for them: they are in its answers."""
    errors = None if os.environ.get("ENSUE_TRACEBACK") else subprocess.DEVNULL
    command = "from ensue.play.child import main; main()"
    return Child(
        subprocess.Popen(
            [sys.executable, "-c", command, str(limits.memory), "evaluates" if evaluates else "assists"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
        )
    )
