# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The algorithm htm, in the emulator of RTM (rtm_emulator/) where the processor has none: what is
run in hardware, what beside it, and what a profile says about it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import jsonschema
import pytest
from conftest import ROOT, GnuTm
from tandem.experiment.host import has_rtm

PROGRAMS = Path(__file__).parent / "gnu_tm"
SCHEMA = json.loads((ROOT / "docs/formats/profile.schema.json").read_text())
# Code of src/runtime/algorithms/hardware.h: who undoes a transaction of the runtime's own accord.
CODES = ("", "serial", "writing", "colour", "beside", "leave", "cancel")


def run(
    gnu_tm: GnuTm, folder: Path, program: Path, *arguments: str, **environment: str
) -> dict[str, int]:
    """What the emulator counted; the program succeeded."""
    if has_rtm():
        pytest.skip("this processor has RTM, and the emulator has nothing to count")
    report = folder / "report"
    outcome = gnu_tm.run(
        program,
        *arguments,
        algorithm="htm",
        environment=environment | {"RTM_EMULATOR_REPORT": str(report)},
    )
    assert outcome.status == 0, outcome.output
    [line] = report.read_text().splitlines()
    report.unlink()
    words = line.split()
    counts = {name: int(count) for name, count in zip(words[::2], words[1::2], strict=True)}
    for number, code in enumerate(CODES):
        counts[code] = counts.pop(f"code{number}")
    return counts


def transfers(gnu_tm: GnuTm) -> Path:
    """Makes as many transactions as its arguments say, threads and for each of them, and looks
    whether one was lost or seen in its middle."""
    return gnu_tm.compile("transfers", [PROGRAMS / "transfers.c"], ["-g"])


def test_transactions_commit_in_hardware(gnu_tm: GnuTm, tmp_path: Path) -> None:
    counts = run(gnu_tm, tmp_path, transfers(gnu_tm), "4", "100", RTM_EMULATOR_ABORTS="0")
    assert counts["commits"] > 300
    assert counts["conflicts"] == counts["capacity"] == 0


@pytest.mark.parametrize("threads", ["1", "3", "8"])
@pytest.mark.parametrize("aborts", ["10", "40", "100"])
def test_aborts_lose_nothing(gnu_tm: GnuTm, tmp_path: Path, aborts: str, threads: str) -> None:
    """Up to where each transaction may be undone, and many end by software beside hardware."""
    moves = str(1200 // int(threads))
    counts = run(gnu_tm, tmp_path, transfers(gnu_tm), threads, moves, RTM_EMULATOR_ABORTS=aborts)
    assert counts["conflicts"] > 0
    assert counts["capacity"] > 0


@pytest.mark.parametrize("pages", ["1", "14"])
def test_what_does_not_fit_ends_by_software(gnu_tm: GnuTm, tmp_path: Path, pages: str) -> None:
    """None of them, and all but each eighth."""
    counts = run(
        gnu_tm,
        tmp_path,
        transfers(gnu_tm),
        "4",
        "250",
        RTM_EMULATOR_PAGES=pages,
        RTM_EMULATOR_ABORTS="0",
    )
    assert counts["capacity"] > 0
    assert (counts["commits"] > 0) == (pages == "14")


def test_software_commits_beside_hardware(gnu_tm: GnuTm, tmp_path: Path) -> None:
    program = gnu_tm.compile("beside", [PROGRAMS / "beside.c"])
    environment = {"RTM_EMULATOR_PAGES": "32", "RTM_EMULATOR_ABORTS": "0"}
    # The long one polls: it must not run serially for looking at its reads again too often.
    environment["TANDEM_SERIALISE_AFTER"] = "never"
    counts = run(gnu_tm, tmp_path, program, **environment)
    assert counts["capacity"] >= 1  # the long one
    assert counts["commits"] >= 40  # the short ones: none of them by software
    assert counts["beside"] == 0  # they saw before they began that there is software


def test_only_software_undoes_a_part(gnu_tm: GnuTm, tmp_path: Path) -> None:
    """nesting.c cancels nested transactions, and outermost ones in hardware."""
    program = gnu_tm.compile("nesting", [PROGRAMS / "nesting.c"])
    counts = run(gnu_tm, tmp_path, program, RTM_EMULATOR_ABORTS="0")
    assert counts["cancel"] > 0
    assert counts["leave"] > 0
    assert counts["commits"] > 0


def test_undo_actions_run(gnu_tm: GnuTm, tmp_path: Path) -> None:
    program = gnu_tm.compile("handlers", [PROGRAMS / "handlers.c"])
    assert run(gnu_tm, tmp_path, program)["leave"] > 0


def causes(profile: Mapping[str, object]) -> dict[str, int]:
    found: dict[str, int] = {}
    for section in profile["sections"]:  # type: ignore[attr-defined]
        for abort in section["aborts"]:
            found[abort["cause"]] = found.get(abort["cause"], 0) + abort["count"]
    return found


@pytest.mark.parametrize("aborts", ["0", "60"])
def test_the_profile_has_what_the_processor_said(
    gnu_tm: GnuTm, tmp_path: Path, aborts: str
) -> None:
    path = tmp_path / "profile.json"
    counts = run(
        gnu_tm,
        tmp_path,
        transfers(gnu_tm),
        "4",
        "300",
        RTM_EMULATOR_ABORTS=aborts,
        TANDEM_PROFILE=str(path),
    )
    profile = json.loads(path.read_text())
    jsonschema.Draft202012Validator(SCHEMA).validate(profile)
    assert profile["run"]["algorithm"] == "htm"
    assert profile["run"]["policy"]["contention"] == "none"
    found = causes(profile)
    conflicts = counts["conflicts"] + counts["writing"] + counts["beside"]
    assert found.get("hardware-conflict", 0) == conflicts
    assert found.get("hardware-capacity", 0) == counts["capacity"]
    assert found.get("hardware-other", 0) == counts["others"] + counts["leave"]
    assert (aborts == "0") == (counts["capacity"] == 0)
    commits = sum(section["commits"] for section in profile["sections"])
    assert commits >= counts["commits"] > 0
    starts = sum(section["starts"] for section in profile["sections"])
    assert starts == commits + sum(found.values())


def test_auto_takes_the_hardware(gnu_tm: GnuTm, tmp_path: Path) -> None:
    counts = run(gnu_tm, tmp_path, transfers(gnu_tm), "3", "50", TANDEM_ALGORITHM="auto")
    assert counts["commits"] > 0


def test_one_thread_needs_no_hardware(gnu_tm: GnuTm, tmp_path: Path) -> None:
    program = gnu_tm.compile("alone", [PROGRAMS / "alone.c"])
    assert run(gnu_tm, tmp_path, program, TANDEM_ALGORITHM="auto")["begins"] == 0
    counts = run(gnu_tm, tmp_path, program, RTM_EMULATOR_ABORTS="0")
    assert counts["begins"] == counts["commits"] == 20  # the nested ones are part of theirs
