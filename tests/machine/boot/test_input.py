# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is typed to a guest: recorded, replayed, at a terminal; checkpoints."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
import termios
from collections.abc import Iterator
from pathlib import Path

import pytest
from guests import LIMIT, TIMEOUT_S, boot, command, restored, state


class Terminal:
    """A program at a terminal of its own."""

    def __init__(self, words: list[str]) -> None:
        self.main, self.other = pty.openpty()
        self.before = termios.tcgetattr(self.other)
        self.shown = b""
        # Not the leader of a group: setsid becomes the program, with this as its terminal.
        self.process = subprocess.Popen(
            ["setsid", "--ctty", *words],
            stdin=self.other,
            stdout=self.other,
            stderr=self.other,
        )

    def wait_for(self, text: str) -> None:
        while text.encode() not in self.shown:
            ready, _, _ = select.select([self.main], [], [], TIMEOUT_S)
            assert ready, f"{text!r} was not shown: {self.shown!r}"
            self.shown += os.read(self.main, 4096)

    def type(self, text: str) -> None:
        os.write(self.main, text.encode())

    def end(self) -> int:
        status = self.process.wait(TIMEOUT_S)
        while select.select([self.main], [], [], 0)[0]:
            self.shown += os.read(self.main, 4096)
        return status

    def as_it_was(self) -> bool:
        return termios.tcgetattr(self.other) == self.before

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.main)
        os.close(self.other)


@pytest.fixture
def at_terminal(guest: Path) -> Iterator[type[Terminal]]:
    made: list[Terminal] = []

    class Opened(Terminal):
        def __init__(self, words: list[str]) -> None:
            super().__init__(command(guest, *words))
            made.append(self)

    yield Opened
    for terminal in made:
        terminal.close()


def test_ctrl_c_leaves_the_terminal_as_it_was(at_terminal: type[Terminal]) -> None:
    for what in ("", "spin\r", "wait\r"):
        terminal = at_terminal([])
        terminal.wait_for("# ")
        assert not terminal.as_it_was()  # keys come one by one
        terminal.type(what)
        terminal.wait_for(what.strip())
        terminal.type("\x03")
        assert terminal.end() == 130
        assert terminal.as_it_was()


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_signals_leave_the_terminal_as_it_was(
    at_terminal: type[Terminal], sent: signal.Signals
) -> None:
    terminal = at_terminal([])
    terminal.wait_for("# ")
    terminal.process.send_signal(sent)
    assert terminal.end() in (130, -sent)
    assert terminal.as_it_was()


def test_a_guest_that_ends_leaves_the_terminal_as_it_was(
    at_terminal: type[Terminal],
) -> None:
    for what, status in (("exit 9", 9), ("crash", 3), ("panic", 3)):
        terminal = at_terminal([])
        terminal.wait_for("# ")
        terminal.type(f"{what}\r")
        assert terminal.end() == status
        assert terminal.as_it_was()
        if status == 3:  # on a line of its own
            assert b"\ntandem machine boot: the " in terminal.shown


def test_keys(at_terminal: type[Terminal]) -> None:
    terminal = at_terminal([])
    terminal.wait_for("# ")
    terminal.type("echo \x01c \x01\x01 end\r")
    terminal.wait_for("\n\x03 \x01 end")
    terminal.type("\x01x")
    assert terminal.end() == 0
    assert terminal.as_it_was()
    terminal = at_terminal(["--keys-to-guest"])
    terminal.wait_for("# ")
    terminal.type("echo \x03 \x01 end\r")
    terminal.wait_for("\n\x03 \x01 end")
    terminal.type("exit 4\r")
    assert terminal.end() == 4


def test_what_is_typed_live_is_recorded_and_replayed(
    at_terminal: type[Terminal], guest: Path, tmp_path: Path
) -> None:
    recording = tmp_path / "recording"
    result = tmp_path / "result.json"
    terminal = at_terminal(
        [
            "--harts",
            "2",
            "--record",
            str(recording),
            "--json",
            str(result),
            "--limit",
            LIMIT,
        ]
    )
    for line in ("echo by hand", "harts", "exit 6"):
        terminal.wait_for("# ")
        terminal.shown = b""
        terminal.type(f"{line}\r")
    assert terminal.end() == 6
    first = boot(guest, "--harts", "2", "--replay", recording)
    again = boot(guest, "--harts", "2", "--replay", recording)
    assert (first.status, first.message) == (6, "")
    assert first.console.endswith("harts 2, counted 2000, interrupted 1\n# exit 6\n")
    assert state(first) == state(again)
    assert first.result["reproducible"]
    live = json.loads(result.read_text())
    assert not live["reproducible"]
    for name in ("instructions", "cycles", "memory_hash", "registers_hash"):
        assert live[name] == first.result[name], name


def test_a_pipe_is_typed_as_it_comes(guest: Path, tmp_path: Path) -> None:
    recording = tmp_path / "recording"
    with subprocess.Popen(
        command(guest, "--record", recording, "--limit", LIMIT),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        shown = b""
        while b"# " not in shown:
            shown += os.read(process.stdout.fileno(), 100)
        process.stdin.write(b"exit 2\n")
        process.stdin.flush()
        assert process.wait(TIMEOUT_S) == 2
    assert boot(guest, "--replay", recording).status == 2


@pytest.mark.parametrize("console", ["uart", "sbi", "virtio"])
def test_a_checkpoint_goes_on_as_if_nothing_had_been(
    guest: Path, disk: Path, tmp_path: Path, console: str
) -> None:
    saved = tmp_path / "saved"
    made = ["--harts", "3", "--disk", str(disk), "--net", "pair", "--console", console]
    typed = "disk\nharts\nnet\ndisk\nexit 5\n"
    through = boot(guest, *made, given=typed)
    assert through.status == 5
    for limit in ("9999", "100001", "200000"):
        begun = boot(guest, *made, "--limit", limit, "--save", saved, given=typed)
        assert begun.result["outcome"] == "limit"
        gone_on = restored(saved, guest)
        assert gone_on.status == 5
        assert begun.console + gone_on.console == through.console
        assert state(gone_on)[:4] == state(through)[:4], limit


def test_a_checkpoint_needs_its_disk(guest: Path, disk: Path, tmp_path: Path) -> None:
    saved = tmp_path / "saved"
    assert boot(guest, "--disk", disk, "--until", "ready", "--save", saved).status == 0
    assert restored(saved, guest, "--type", "off").status == 0
    disk.write_bytes(b"other")
    done = restored(saved, guest)
    assert done.status == 2
    assert "has changed since" in done.message
    saved.write_bytes(saved.read_bytes()[:-1])
    assert restored(saved, guest).status == 2
