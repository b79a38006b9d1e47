# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""TANDEM_LOCK_PROFILE: what is written about a program whose use of locks is known."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from conftest import ROOT

BUILD = Path(os.environ["TANDEM_BUILD"])
LIBRARY = BUILD / "lib/libtandem_locks.so"
SOURCE = Path(__file__).parent / "locks/locks.c"
SCHEMA = json.loads((ROOT / "docs/formats/profile.schema.json").read_text())


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("locks") / "locks"
    command = ["gcc", "-O1", "-g", "-Wall", "-Wextra", "-Werror", str(SOURCE), "-o", str(path)]
    subprocess.run([*command, "-pthread"], check=True)
    return path


def run(program: Path, profile: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"LD_PRELOAD": str(LIBRARY), "TANDEM_LOCK_PROFILE": str(profile)}
    return subprocess.run(
        [str(program), *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def read(path: Path) -> dict[str, Any]:
    profile: dict[str, Any] = json.loads(path.read_text())
    jsonschema.Draft202012Validator(SCHEMA).validate(profile)
    return profile


def line_of(text: str) -> int:
    [line] = [n for n, at in enumerate(SOURCE.read_text().splitlines(), 1) if text in at]
    return line


@pytest.fixture(scope="module")
def profile(program: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    path = tmp_path_factory.mktemp("profile") / "locks.json"
    done = run(program, path)
    assert (done.returncode, done.stderr) == (0, "")
    return read(path)


def sites(profile: dict[str, Any], symbol: str) -> list[dict[str, Any]]:
    return [lock for lock in profile["locks"] if lock["object"]["symbol"] == symbol]


def test_a_contended_mutex(profile: dict[str, Any]) -> None:
    by_line = {lock["site"]["line"]: lock for lock in sites(profile, "contended")}
    assert set(by_line) == {line_of(x) for x in ("/* refused */", "/* contended */", "/* held */")}
    refused = by_line[line_of("/* refused */")]
    assert (refused["acquisitions"], refused["failed"]) == (0, 1)
    got = by_line[line_of("/* contended */")]
    assert (got["acquisitions"], got["contended"], got["site"]["function"]) == (1, 1, "other")
    held = by_line[line_of("/* held */")]
    assert (held["acquisitions"], held["contended"], held["wait_ns"]) == (1, 0, 0)
    assert held["hold_ns"] == held["longest_hold_ns"] >= 50_000_000
    assert got["wait_ns"] > 0


def test_a_wait_on_a_condition_releases(profile: dict[str, Any]) -> None:
    locks = sites(profile, "waited")
    assert sum(lock["acquisitions"] for lock in locks) == 2
    # The signal may come before the wait.
    assert sum(lock["condition_waits"] for lock in locks) <= 1


@pytest.mark.parametrize(
    ("symbol", "kind", "mode", "count"),
    [
        ("readers", "rwlock", "shared", 10),
        ("readers", "rwlock", "exclusive", 1),
        ("spinning", "spin", "exclusive", 10),
        ("standard", "mutex", "exclusive", 10),
    ],
)
def test_every_kind(profile: dict[str, Any], symbol: str, kind: str, mode: str, count: int) -> None:
    [lock] = [x for x in sites(profile, symbol) if x["mode"] == mode]
    assert (lock["kind"], lock["acquisitions"], lock["contended"]) == (kind, count, 0)
    assert lock["object"]["kind"] == "global"
    assert lock["hold_ns"] > 0


def test_locks_on_the_heap_go_by_who_initialised_them(profile: dict[str, Any]) -> None:
    [lock] = [x for x in sites(profile, "main") if x["site"]["line"] == line_of("/* heap */")]
    assert (lock["acquisitions"], lock["object"]["locks"]) == (30, 3)
    assert lock["object"]["line"] == line_of("/* initialised */")


def test_a_forked_child_writes_its_own(program: Path, tmp_path: Path) -> None:
    path = tmp_path / "locks.json"
    done = run(program, path, "fork")
    assert (done.returncode, done.stderr) == (0, "")
    for _ in range(600):
        children = [x for x in tmp_path.glob("locks.json.*") if x.suffix != ".part"]
        if children:
            break
        subprocess.run(["sleep", "0.1"], check=True)
    [child] = children
    [lock] = read(child)["locks"]
    assert (lock["object"]["symbol"], lock["acquisitions"]) == ("contended", 1)
    assert sum(x["acquisitions"] for x in sites(read(path), "contended")) == 2


def test_a_file_that_cannot_be_written(program: Path, tmp_path: Path) -> None:
    done = run(program, tmp_path / "no" / "locks.json")
    assert done.returncode == 2
    assert "TANDEM_LOCK_PROFILE" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_an_older_profile_stays_where_the_process_writes_none(
    program: Path, tmp_path: Path
) -> None:
    path = tmp_path / "locks.json"
    path.write_text("of an earlier run")
    done = run(program, path, "kill")
    assert (done.returncode, done.stderr) == (-9, "")
    assert path.read_text() == "of an earlier run"


def test_a_report_without_locks(tmp_path: Path) -> None:
    path = tmp_path / "locks.json"
    run(Path("/bin/true"), path)
    done = subprocess.run(
        [str(BUILD / "bin/tandem"), "report", str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "no lock was acquired" in done.stdout


def test_the_report(program: Path, tmp_path: Path) -> None:
    path = tmp_path / "locks.json"
    run(program, path)
    page = tmp_path / "page.html"
    done = subprocess.run(
        [str(BUILD / "bin/tandem"), "report", str(path), "--html", str(page)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "contended" in done.stdout.split("Locks")[1]
    text = page.read_text()
    assert f"locks.c:{line_of('/* initialised */')}), 3 of them" in text
    assert "readers" in text


ENDS = Path(__file__).parent / "locks/ends.c"


@pytest.fixture(scope="module")
def stripped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As distributions ship programs; beside it the separate debug file, NAME.debug."""
    path = tmp_path_factory.mktemp("ends") / "ends"
    command = ["gcc", "-O1", "-g", "-Wall", "-Wextra", "-Werror", str(ENDS), "-o", str(path)]
    subprocess.run([*command, "-pthread", "-Wl,--build-id"], check=True)
    subprocess.run(["objcopy", "--only-keep-debug", str(path), f"{path}.debug"], check=True)
    subprocess.run(["strip", str(path)], check=True)
    return path


def names(profile: dict[str, Any]) -> set[tuple[str, str, int]]:
    locks = profile["locks"]
    return {(x["object"]["symbol"], x["site"]["function"], x["acquisitions"]) for x in locks}


@pytest.mark.parametrize(
    ("how", "status", "end"),
    [
        ("exit", 0, "exit"),
        ("quick_exit", 4, "exit"),
        ("_exit", 3, "_exit"),
        ("pthread_exit", 0, "exit"),
        ("handler", signal.SIGALRM, "_exit"),
        ("terminate", -15, "signal 15"),
        ("fault", -11, "signal 11"),
        ("abort", -6, "signal 6"),
        ("exec", 1, "exec false"),
        ("vfork", 1, "exit"),
    ],
)
def test_a_stripped_program_however_it_ends(
    stripped: Path, tmp_path: Path, how: str, status: int, end: str
) -> None:
    """Its two locks are told apart, and the file says whose process it was."""
    done = run(stripped, tmp_path / "%e.json", how)
    assert (done.returncode, done.stderr) == (status, "")
    profile = read(tmp_path / "ends.json")
    found = profile["run"]
    assert (found["command"], found["end"]) == ([str(stripped), how], end)
    assert found["parent"] == os.getpid()
    assert {x["output"] for x in found["modules"]} == {"ends"}
    assert all(x["build_id"] for x in found["modules"])
    assert all(x.startswith("ends+0x") for name in names(profile) for x in name[:2])
    assert sorted(x[2] for x in names(profile)) == [2, 2000]
    assert len({x[0] for x in names(profile)}) == 2


def test_a_child_that_a_signal_ends(stripped: Path, tmp_path: Path) -> None:
    done = run(stripped, tmp_path / "p.json", "fork")
    assert (done.returncode, done.stderr) == (15, "")
    parent = read(tmp_path / "p.json")["run"]
    [path] = tmp_path.glob("p.json.*")
    child = read(path)
    assert path.name == f"p.json.{child['run']['pid']}"
    assert (child["run"]["end"], child["run"]["parent"]) == ("signal 15", parent["pid"])
    assert sorted(x[2] for x in names(child)) == [2, 2000]


def test_names_of_a_separate_debug_file(
    stripped: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(stripped, tmp_path / "first.json", "exit")
    [module] = read(tmp_path / "first.json")["run"]["modules"]
    kept = tmp_path / "cache" / module["build_id"]
    kept.mkdir(parents=True)
    kept.joinpath("debuginfo").write_bytes(Path(f"{stripped}.debug").read_bytes())
    monkeypatch.setenv("DEBUGINFOD_CACHE_PATH", str(kept.parent))
    run(stripped, tmp_path / "p.json", "exit")
    assert names(read(tmp_path / "p.json")) == {("hot", "work", 2000), ("cold", "work", 2)}
