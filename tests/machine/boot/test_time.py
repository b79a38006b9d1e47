# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Guests in S-mode on simulated caches: every protocol, devices, modes, and what is refused."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from guests import Run, boot, restored

SCHEMA = Path(os.environ["TANDEM_SOURCE"]) / "docs" / "formats" / "profile.schema.json"

PROTOCOLS = (
    "mesi-snoop",
    "token-b",
    "sparse-directory",
    "mosaic",
    "flask",
    "flask-plus",
)


def counted(done: Run) -> tuple[Any, Any]:
    """What the memory side has counted, without the host's time."""
    timing = done.result["timing"]
    return timing["run"]["counts"], timing["harts"]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_harts_and_interrupts_under_every_protocol(guest: Path, protocol: str) -> None:
    done = boot(
        guest, "--harts", "3", "--run", "harts", "--mode", "timing", "--protocol", protocol,
        "--check-values",
    )  # fmt: skip
    assert (done.console, done.status) == ("harts 3, counted 3000, interrupted 2\n", 0)
    counts = done.result["timing"]["run"]
    assert counts["cycles"] > done.result["instructions"] / 3


@pytest.mark.parametrize("protocol", ["mesi-snoop", "flask"])
def test_a_disk_has_traffic(guest: Path, disk: Path, protocol: str) -> None:
    """What is read is what it is without time; a request is some blocks of 64 bytes."""
    words = ["--disk", str(disk), "--run", "disk"]
    without = boot(guest, *words)
    done = boot(guest, *words, "--mode", "timing", "--protocol", protocol, "--check-values")
    assert (done.console, done.status) == (without.console, 0)
    counts = done.result["counts"]
    moved = counts["disk.bytes_read"] + counts["disk.bytes_written"]
    assert moved > 0
    devices = done.result["timing"]["run"]["counts"]["devices"]
    assert devices["reads"] + devices["writes"] > moved / 64


def test_one_hart_ends_as_it_does_without_time(guest: Path) -> None:
    words = ["--run", "harts"]
    without = boot(guest, *words).result
    for mode in ("timing", "warming"):
        done = boot(guest, *words, "--mode", mode, "--protocol", "flask").result
        for name in ("instructions", "memory_hash"):
            assert done[name] == without[name], (mode, name)
        assert done["cycles"] > without["instructions"]


def test_the_mode_changes_when_the_console_says_so(guest: Path) -> None:
    """The same from the same cycle on, twice; none of it in timing before."""
    words = [
        "--type",
        "harts",
        "--type",
        "exit 0",
        "--harts",
        "2",
        "--protocol",
        "flask",
    ]
    runs = [
        boot(guest, *words, "--mode", mode, "--change", "ready=timing")
        for mode in ("functional", "functional", "warming")
    ]
    for done in runs:
        assert done.status == 0
        assert "harts 2, counted 2000, interrupted 1" in done.console
    assert counted(runs[0]) == counted(runs[1])
    assert runs[0].result["registers_hash"] == runs[1].result["registers_hash"]
    timed = [sum(hart["instructions"] for hart in done.result["timing"]["harts"]) for done in runs]
    assert 0 < timed[0] < runs[0].result["instructions"]
    assert timed[0] < timed[2] <= runs[2].result["instructions"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--mode", "timing"], "--mode timing needs a protocol"),
        (["--protocol", "dragon"], "there is no protocol 'dragon'"),
        (
            ["--protocol", "flask", "--trace", "-"],
            "--trace and --gdb follow harts without time",
        ),
        (["--protocol", "flask", "--save", "saved"], "a checkpoint has no caches"),
        (["--change", "ready=timing"], "say --protocol NAME"),
        (["--protocol", "flask", "--change", "ready"], "is to be TEXT=MODE"),
        (["--protocol", "flask", "--change", "ready=fast"], "is to be TEXT=MODE"),
        (["--protocol", "flask", "--change", "=timing"], "is to be TEXT=MODE"),
    ],
)
def test_mistakes_are_told(guest: Path, words: list[str], message: str) -> None:
    done = boot(guest, *words)
    assert (done.status, done.console) == (2, "")
    assert message in done.message
    assert done.message.count("\n") == 1
    assert not Path("saved").exists()


def test_a_timeline_is_a_page(guest: Path, tmp_path: Path) -> None:
    page = tmp_path / "timeline.html"
    words = [
        "--harts",
        "2",
        "--run",
        "harts",
        "--mode",
        "timing",
        "--protocol",
        "flask",
    ]
    without = boot(guest, *words)
    done = boot(guest, *words, "--timeline", page)
    assert counted(done) == counted(without)
    text = page.read_text()
    assert text.startswith("<!doctype html>")
    assert text.rstrip().endswith("</html>")
    assert text.count('<text x="0"') == 2  # harts
    for expected in (
        "default-src 'none'",
        "counted",
        "count+0x",
        ">shared<",
        "writes of",
    ):
        assert expected in text, expected
    mistake = boot(guest, *words, "--timeline", tmp_path / "none" / "page.html")
    assert mistake.status == 2
    assert "none/page.html" in mistake.message


def test_cycles_outside_of_u(guest: Path) -> None:
    words = ["--run", "user 100000", "--mode", "timing", "--protocol", "mesi-snoop"]
    hart = boot(guest, *words).result["timing"]["harts"][0]
    outside = hart.pop("system_cycles")
    # The cycles in which it ran, and those in which it waited.
    inside = sum(value for name, value in hart.items() if name != "instructions") - outside
    assert 200_001 <= inside <= 202_000  # two instructions a round, ecall, few fetches
    assert outside > 1000


@pytest.mark.parametrize("time", [(), ("--protocol", "mesi-snoop")], ids=["no-time", "time"])
def test_transactions_are_counted(guest: Path, tmp_path: Path, time: tuple[str, ...]) -> None:
    profile = tmp_path / "profile.json"
    words = [
        "--run",
        "transactions 70",
        "--tx-limit",
        "3",
        "--profile",
        str(profile),
        *time,
    ]
    done = boot(guest, *words)
    assert (done.console, done.status) == ("70\n", 0)
    assert done.result["transactions"]["commits"] == 70
    described = json.loads(profile.read_text())
    assert [x["commits"] for x in described["sections"]] == [70]
    assert described["run"]["policy"]["serialise_after"] == 3


def test_profiles_name_what_ran(guest: Path, tmp_path: Path) -> None:
    schema = json.loads(SCHEMA.read_text())
    profile = tmp_path / "profile.json"
    saved = tmp_path / "saved"
    words = ["--run", "transactions 70", "--profile", str(profile)]
    boot(guest, *words, "--limit", "1000", "--save", str(saved))
    for done in (boot(guest, *words), restored(saved, guest, "--profile", str(profile))):
        assert (done.console, done.status) == ("70\n", 0)
        described = json.loads(profile.read_text())
        jsonschema.validate(described, schema)
        assert described["run"]["program"] == str(guest)
