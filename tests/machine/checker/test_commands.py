# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`tandem machine check` and `tandem machine tables`, as a user meets them."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

MACHINE = Path(os.environ["TANDEM_BUILD"]) / "libexec" / "tandem-machine"


def machine(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(MACHINE), *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def wait_until_interruptible(pid: int) -> None:
    """Until the program has its own handler of SIGINT."""
    while True:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
        caught = re.search(r"SigCgt:\s+([0-9a-f]+)", status)
        if caught and int(caught[1], 16) >> (signal.SIGINT - 1) & 1:
            return
        time.sleep(0.01)


def test_a_proof_prints_its_states_and_succeeds() -> None:
    done = machine("check", "mesi-snoop")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) >= 3
    for line in lines:
        assert re.search(r": \d+ states, \d+ steps, .*: proved$", line), line


def test_one_search_with_its_own_bounds() -> None:
    small = machine("check", "sparse-directory", "--cores", "2")
    buffers = machine("check", "sparse-directory", "--cores", "2", "--buffers", "1")
    assert small.returncode == buffers.returncode == 0
    states = [re.findall(r"(\d+) states", out.stdout) for out in (small, buffers)]
    assert 0 < int(states[1][0]) < int(states[0][0])


def test_transactions_need_tables_that_refuse() -> None:
    words = ("check", "mesi-snoop", "--cores", "2", "--transactions")
    refusing = machine(*words, "--option", "transactions")
    assert (refusing.returncode, refusing.stderr) == (0, "")
    plain = machine(*words)
    assert plain.returncode == 1
    assert "a transaction that wins does not refuse" in plain.stdout


def test_a_search_that_gives_up_is_no_proof() -> None:
    done = machine("check", "mesi-snoop", "--cores", "3", "--most-states", "10")
    assert done.returncode == 1
    assert "not finished" in done.stdout


def test_the_results_as_json(tmp_path: Path) -> None:
    out = tmp_path / "result.json"
    done = machine("check", "mesi-snoop", "--cores", "2", "--json", str(out))
    assert done.returncode == 0
    result = json.loads(out.read_text())
    assert result["protocol"] == "mesi-snoop"
    (search,) = result["searches"]
    assert search["verdict"] == "proved"
    assert (search["cores"], search["blocks"]) == (2, 1)
    assert f"{search['states']} states" in done.stdout


def test_interrupted_it_leaves_what_it_has(tmp_path: Path) -> None:
    out = tmp_path / "result.json"
    with subprocess.Popen(
        [
            str(MACHINE),
            "check",
            "sparse-directory",
            "--blocks",
            "2",
            "--json",
            str(out),
        ],
        stdout=subprocess.PIPE,
        text=True,
    ) as running:
        wait_until_interruptible(running.pid)
        running.send_signal(signal.SIGINT)
        stdout, _ = running.communicate(timeout=60)
    assert running.returncode == 130
    assert "not finished" in stdout
    (search,) = json.loads(out.read_text())["searches"]
    assert search["verdict"] == "not finished"
    assert search["states"] > 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("check", "flsk"), "did you mean 'flask'?"),
        (
            ("check", "mesi-snoop", "--option", "moesi"),
            "--option moesi: mesi-snoop has these options: transactions",
        ),
        (("check", "flask", "--set", "moesi"), "flask has these options: two_phase"),
        (("check", "flask", "--tokens", "2"), "3 cores need at least as many tokens"),
        (("check", "flask", "--all", "--cores", "2"), "--all"),
        (("check", "flask", "--cores", "9"), "--cores"),
        (("check", "mesi-snoop", "--json", "/nowhere/x"), "/nowhere"),
        (("tables", "mesi-snoop", "--html", "/nowhere/x"), "/nowhere"),
    ],
)
def test_mistakes_are_explained_in_one_line(arguments: tuple[str, ...], message: str) -> None:
    done = machine(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_tables_as_text_and_as_a_page(tmp_path: Path) -> None:
    text = machine("tables", "mesi-snoop")
    assert text.returncode == 0
    rows = [line for line in text.stdout.splitlines() if re.match(r"\s+\d+  ", line)]
    assert len(rows) > 40
    assert not [row for row in rows if re.match(r"\s+0  ", row)]
    page = tmp_path / "page.html"
    assert machine("tables", "mesi-snoop", "--html", str(page)).returncode == 0
    content = page.read_text()
    assert f"<p>{len(rows)} of {len(rows)} rows are taken: " in content
    assert f", and {len(rows)} in these exhaustive searches" in content
    assert "BusUpgr" in content
    assert machine("tables", "mesi-snoop", "--html").stdout == content


def test_without_coverage_no_search_is_run() -> None:
    done = machine("tables", "sparse-directory", "--no-coverage", "--html")
    assert done.returncode == 0
    assert "Coverage" not in done.stdout
    assert "FwdGetM" in done.stdout
