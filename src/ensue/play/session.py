"""Answers to the page's requests: texts to start with, checks, detections, tests, and files that are saved."""

from __future__ import annotations

import hashlib
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import Any

from ensue import __version__
from ensue.data.errors import DataError
from ensue.play.events import MOST_BYTES, Loaded
from ensue.play.examples import examples
from ensue.play.files import AlreadyThereError, Files
from ensue.play.lane import Given, Lane
from ensue.records import dataclass

MOST_RULES = 500_000
"""Characters of rules."""

MOST_KEPT = 8
"""Versions of events that are kept, for pages that are open at once."""

MOST_SHOWN = 6
"""Timelines that are kept, for pages that are open at once."""

LANGUAGE = ("words", "check", "complete", "hover", "format")
EVALUATION = ("run", "timeline", "why", "plan", "test", "given")
AGAIN = ("timeline", "why", "plan")
"""Requests that the page repeats after each run, so that a run need not wait for it."""


@dataclass(frozen=True)
class Start:
    """The texts that a page shows first."""

    rules: str = ""
    events: Loaded = field(default_factory=lambda: Loaded(""))
    until: str = ""
    params: Mapping[str, str] = field(default_factory=dict)
    example: str | None = None
    """The example that this is, where no file was named."""


@dataclass
class Session:
    """One playground: its files, how events are read, and the two processes that check and run rules."""

    files: Files
    start: Start
    settings: Mapping[str, Any]
    """The arguments of each evaluation: `columns` and `tables`, as plain values."""
    language: Lane
    evaluation: Lane
    _events: OrderedDict[str, Given] = field(default_factory=OrderedDict)
    _shown: OrderedDict[str, str] = field(default_factory=OrderedDict)
    _secret: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def open(self) -> None:
        """Starts both processes."""
        self.language.start()
        self.evaluation.start()

    def close(self) -> None:
        self.language.close()
        self.evaluation.close()

    def answer(self, name: str, body: Mapping[str, Any]) -> dict[str, Any] | None:
        """The answer to a request of the page; None if there is no such request."""
        try:
            if name in LANGUAGE:
                return self.language.ask(name, {**_plain(body), "rules": _rules(body) if name != "words" else ""})
            if name in EVALUATION:
                return self._evaluated(name, body)
            own = self._own.get(name)
            return None if own is None else own(body)
        except AlreadyThereError as error:
            return {"ask": str(error)}
        except DataError as error:
            return {"failure": str(error)}

    @property
    def _own(self) -> dict[str, Callable[[Mapping[str, Any]], dict[str, Any]]]:
        return {"start": self._start, "events": self._take_events, "example": self._example, "save": self._save}

    def _start(self, body: Mapping[str, Any]) -> dict[str, Any]:
        paths = {which: document.path for which, document in self.files.documents.items()}
        return {
            "version": __version__,
            "rules": self.start.rules,
            "events": self.start.events.text,
            "cut": self.start.events.cut,
            "until": self.start.until,
            "params": dict(self.start.params),
            "example": self.start.example,
            "names": {which: None if path is None else path.name for which, path in paths.items()},
            "examples": [
                {"name": each.name, "title": each.title, "events": each.events is not None}
                for each in examples().values()
            ],
        }

    def _take_events(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Keeps a version of the events, so that typing rules does not send them again."""
        text = _text(body, "text", MOST_BYTES)
        version = hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
        with self._lock:
            self._events[version] = Given(version, text)
            self._events.move_to_end(version)
            while len(self._events) > MOST_KEPT:
                self._events.popitem(last=False)
        return {"version": version}

    def _evaluated(self, name: str, body: Mapping[str, Any]) -> dict[str, Any]:
        with self._lock:
            given = self._events.get(str(body.get("version")))
        if given is None:
            return {"unknown": True}  # the page sends its events again
        ends = AGAIN if name == "run" else ()
        found = self.evaluation.ask(name, {**_plain(body), **self.settings, "rules": _rules(body)}, given, ends)
        return {"shown": self._keep(found["html"]), "note": found["note"]} if "html" in found else found

    def _keep(self, html: str) -> str:
        """Keeps a page that is shown inside the page; its name, which cannot be guessed, is that of its text."""
        name = hashlib.blake2b(html.encode(), digest_size=24, key=self._secret).hexdigest()
        with self._lock:
            self._shown[name] = html
            self._shown.move_to_end(name)
            while len(self._shown) > MOST_SHOWN:
                self._shown.popitem(last=False)
        return name

    def shown(self, name: str) -> str | None:
        """A page that is shown inside the page; None if there is none of that name."""
        with self._lock:
            return self._shown.get(name)

    def _example(self, body: Mapping[str, Any]) -> dict[str, Any]:
        example = examples().get(str(body.get("name")))
        if example is None:
            raise DataError("There is no such example.")
        rules = example.rules.read_text(encoding="utf-8")
        if example.events is not None:
            return {"rules": rules, "events": example.events(), "until": "", "params": {}}
        found = self.evaluation.ask("given", {"rules": rules})
        return {**found, "rules": rules}

    def _save(self, body: Mapping[str, Any]) -> dict[str, Any]:
        which = str(body.get("which"))
        text = _rules(body) if which == "rules" else _text(body, "text", MOST_BYTES)
        name = body.get("name")
        if which == "rules" and text and not text.endswith("\n"):
            text += "\n"
        saved = self.files.save(which, text, None if name is None else str(name), body.get("replace") is True)
        changed = {"rules": text} if which == "rules" else {"events": Loaded(text)}
        self.start = replace(self.start, example=None, **changed)  # a page that is opened again shows what was saved
        return {"saved": saved}


def _rules(body: Mapping[str, Any]) -> str:
    return _text(body, "rules" if "rules" in body else "text", MOST_RULES)


def _text(body: Mapping[str, Any], name: str, most: int) -> str:
    """A text that is not too long; half surrogate pairs, which are no characters, are replaced."""
    text = body.get(name)
    if not isinstance(text, str):
        raise DataError(f"The request has no {name}.")
    if len(text) > most:
        raise DataError(f"This is longer than the {most:,} characters that the playground takes; use `ensue run`.")
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\r\n", "\n")


def _plain(body: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a request besides its texts: a position, the title of a test, parameters, the end of time."""
    taken: dict[str, Any] = {}
    for name in ("line", "column"):
        if isinstance(body.get(name), int):
            taken[name] = body[name]
    for name in ("test", "until", "detection", "type", "at", "theme"):
        if isinstance(body.get(name), str):
            taken[name] = _text(body, name, 100_000)
    for name in ("params", "key"):
        given = body.get(name)
        if isinstance(given, dict):
            taken[name] = {str(key): str(value) for key, value in given.items()}
    return taken
