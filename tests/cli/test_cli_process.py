"""The command line as a process: exit codes, pipes, terminals, and imports."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import ensue as package
from ensue.cli import commands, progress
from ensue.cli.run import run
from ensue.data import DataError
from tests.cli.conftest import Command, Process


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ([], 0),
        (["--help"], 0),
        (["-h"], 0),
        (["--version"], 0),
        (["check", "shop.ensue"], 0),
        (["test", "shop.ensue"], 0),
        (["run", "shop.ensue", "events.jsonl"], 0),
        (["fmt", "--check", "shop.ensue"], 0),
        (["check", "wrong.ensue"], 1),
        (["test", "wrong.ensue"], 1),
        (["run", "wrong.ensue", "events.jsonl"], 1),
        (["fmt", "wrong.ensue"], 1),
        (["chekc"], 2),
        (["--nothing"], 2),
        (["check"], 2),
        (["check", "missing.ensue"], 2),
        (["check", "--nothing", "shop.ensue"], 2),
        (["run", "shop.ensue"], 2),
        (["run", "shop.ensue", "missing.jsonl"], 2),
        (["run", "shop.ensue", "events.jsonl", "--until"], 2),
        (["demo", "shop.ensue"], 2),
    ],
)
def test_exit_codes(process: Process, folder: Path, arguments: list[str], code: int) -> None:
    (folder / "wrong.ensue").write_text("a(x) <- <- .\n")
    done = process(*arguments)
    assert done.returncode == code
    if code == 2:
        assert done.stdout == ""
        assert done.stderr.startswith("ensue: ") and done.stderr.count("\n") == 1
    if code == 0:
        assert done.stderr == "" or done.stderr.endswith("\n1 note in 1 file\n")


def test_the_version(ensue: Command) -> None:
    assert ensue("--version").stdout == f"ensue {package.__version__}\n"


@pytest.mark.parametrize("command", ["check", "fmt", "test", "run", "demo", "stream", "state"])
def test_every_command_explains_itself_with_an_example(ensue: Command, command: str) -> None:
    shown = ensue(command, "--help").stdout
    assert "Example:\n" in shown and f"    ensue {command}" in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_wrong_use_says_where_to_look(ensue: Command) -> None:
    result = ensue("run", "shop.ensue", "events.jsonl", "--nothing")
    assert result.stderr.startswith("ensue: No such option") and result.stderr.endswith(" See `ensue run --help`.\n")


# --- pipes and interruptions ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", [["run", "shop.ensue", "events.jsonl"], ["test", "shop.ensue"], ["demo"]])
def test_a_broken_pipe_ends_quietly(folder: Path, command: list[str]) -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([sys.executable, "-m", "ensue", *command], stdout=write, stderr=subprocess.PIPE, check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (141, b"")


def test_a_broken_pipe_of_messages_ends_quietly(folder: Path) -> None:
    (folder / "wrong.ensue").write_text("a(x) <- <- .\n" * 200)
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "ensue", "check", "wrong.ensue"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=write, check=False)
    os.close(write)
    assert (done.returncode, done.stdout) == (141, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk_is_a_sentence(process: Process, folder: Path) -> None:
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "ensue", "run", "shop.ensue", "events.jsonl"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "ensue: The output cannot be written: No space left on device.\n"


@pytest.mark.skipif(os.name == "nt", reason="there is no such redirection")
def test_closed_streams(folder: Path) -> None:
    command = f"{sys.executable} -m ensue run shop.ensue events.jsonl"
    assert subprocess.run(f"{command} >&-", shell=True, capture_output=True, check=False).returncode == 0
    assert subprocess.run(f"{command} 2>&-", shell=True, capture_output=True, check=False).returncode == 0
    command = f"{sys.executable} -m ensue run shop.ensue - <&-"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert done.stderr == "ensue: Standard input is closed, so there is nothing to read from it.\n"


def raising(error: BaseException) -> Callable[..., int]:
    def callback(**_: object) -> int:
        raise error

    return callback


def test_an_interruption(ensue: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "callback", raising(KeyboardInterrupt()))
    result = ensue("run", "shop.ensue", "events.jsonl")
    assert (result.exit_code, result.stdout, result.stderr.strip()) == (130, "", "")


@pytest.mark.parametrize(
    ("error", "code", "sentence"),
    [
        (DataError("two\nlines"), 2, "ensue: two lines.\n"),
        (OSError(28, "No space left on device", "out.csv"), 2, "ensue: out.csv: No space left on device.\n"),
        (MemoryError(), 2, "ensue: There is not enough memory for this.\n"),
        (KeyError("x"), 70, "ensue: This is a bug in ensue, "),
    ],
)
def test_failures_are_one_sentence(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: BaseException,
    code: int,
    sentence: str,
) -> None:
    monkeypatch.setattr(run, "callback", raising(error))
    with pytest.raises(SystemExit) as ended:
        commands.ensue.main(["run", "shop.ensue", "events.jsonl"])
    assert ended.value.code == code
    assert capsys.readouterr().err.startswith(sentence)


def test_a_bug_shows_its_traceback_on_demand(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "callback", raising(KeyError("x")))
    monkeypatch.setenv("ENSUE_TRACEBACK", "1")
    with pytest.raises(KeyError):
        commands.ensue.main(["run", "shop.ensue", "events.jsonl"])


# --- terminals --------------------------------------------------------------------------------------------------------


def on_terminal(arguments: list[str], **environment: str) -> str:
    """Output of a command on standard error where that is a terminal."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    environment = {"PATH": os.environ["PATH"], "TERM": "xterm", **environment}
    subprocess.run([sys.executable, "-m", "ensue", *arguments], stderr=theirs, env=environment, check=False)
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # how Linux says that the other side is closed
            break
        if not part:
            break
        shown += part
    os.close(ours)
    return shown.decode().replace("\r\n", "\n")


def test_colours_on_a_terminal_only(process: Process, folder: Path) -> None:
    (folder / "wrong.ensue").write_text("event a(x: int).\nb(y) <- a(x).\n")
    plain = process("check", "wrong.ensue").stderr
    coloured = on_terminal(["check", "wrong.ensue"])
    assert "\x1b" not in plain
    assert coloured.startswith("\x1b[1mwrong.ensue:2:3:\x1b[0m \x1b[31m\x1b[1merror E105:\x1b[0m ")
    assert "\x1b" in coloured
    assert on_terminal(["check", "wrong.ensue"], NO_COLOR="1") == plain
    assert on_terminal(["check", "wrong.ensue"], TERM="dumb") == plain


class AtOnce(threading.Timer):
    """A timer that does not wait."""

    def start(self) -> None:
        self.function()

    def join(self, timeout: float | None = None) -> None:
        pass


def test_a_sign_of_life_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(threading, "Timer", AtOnce)
    with progress.progress("Working…"):
        pass
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    with progress.progress("Working…"):
        pass
    assert "Working…" in capsys.readouterr().err


def test_nothing_is_shown_where_work_is_quick(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 1e6)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with progress.progress("Working…"):
        pass
    assert capsys.readouterr().err == ""


# --- imports ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("missing", ["click", "rich"])
def test_a_missing_extra_is_a_sentence(missing: str) -> None:
    code = f"import sys; sys.modules[{missing!r}] = None; from ensue.cli import main; main(['--version'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == (
        "ensue: the command line needs click and rich; install them with: pip install 'ensue[cli]'\n"
    )


HEAVY = ("pyarrow", "lark", "pandas", "polars", "rich.table", "rich.console", "ensue.program", "ensue.data")


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_the_command_line_itself_starts_quickly(option: str) -> None:
    """A bare package stands in for `ensue`, so that only what the command line imports counts."""
    code = f"""
import sys, types
sys.modules["ensue"] = types.ModuleType("ensue")
sys.modules["ensue"].__path__ = {package.__path__!r}
sys.modules["ensue"].__version__ = "1.0"
from ensue.cli import main
try:
    main([{option!r}])
finally:
    print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "[]\n")


def test_the_version_does_not_wait_for_arrow() -> None:
    code = "import sys; from ensue.cli import main\ntry: main(['--version'])\nfinally: print('pyarrow' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.endswith("\nFalse\n")
