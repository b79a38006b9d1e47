# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""TANDEM_PROFILE: what is written about a program whose behaviour is known."""

from __future__ import annotations

import json
import os
import stat
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from conftest import ALGORITHMS, LIBRARY, ROOT, GnuTm

PROGRAM = Path(__file__).parent / "gnu_tm/profiled.c"
SCHEMA = json.loads((ROOT / "docs/formats/profile.schema.json").read_text())
SPECULATIVE = ("eager", "lazy", "norec")


def obeys(profile: dict[str, Any]) -> None:
    """The schema, and the equations of docs/formats/profile.md."""
    jsonschema.Draft202012Validator(SCHEMA).validate(profile)
    names = [(section["output"], section["name"]) for section in profile["sections"]]
    assert len(set(names)) == len(names)
    each = profile["run"]["each_thread"]
    assert len(each) <= profile["run"]["threads"]
    assert sum(x["commits"] for x in each) == sum(x["commits"] for x in profile["sections"])
    assert sum(x["aborts"] for x in each) == sum(
        abort["count"] for section in profile["sections"] for abort in section["aborts"]
    )
    for section in profile["sections"]:
        aborts = sum(abort["count"] for abort in section["aborts"])
        assert section["starts"] == section["commits"] + aborts + section["unfinished"]
        reasons = [json.dumps(abort | {"count": 0}, sort_keys=True) for abort in section["aborts"]]
        assert len(set(reasons)) == len(reasons)
        for histogram in ("read_set", "write_set", "retries"):
            assert sum(section[histogram]["counts"]) == section["commits"]
            assert section[histogram]["counts"][-1:] != [0]
        assert sum(entry["count"] for entry in section["serialisations"]) <= section["starts"]
        time = section["time"]
        assert time["waiting_ns"] + time["irrevocable_ns"] <= time["section_ns"]


def profiled(gnu_tm: GnuTm, folder: Path, algorithm: str, *arguments: str) -> Path:
    program = gnu_tm.compile("profiled", [PROGRAM], ["-g"])
    path = folder / "profile.json"
    environment = {"TANDEM_PROFILE": str(path)}
    outcome = gnu_tm.run(program, *arguments, algorithm=algorithm, environment=environment)
    assert (outcome.status, outcome.output) == (0, "")
    return path


def sections(path: Path) -> dict[str, dict[str, Any]]:
    """By the function that begins them."""
    profile = json.loads(path.read_text())
    obeys(profile)
    assert all(section["output"] == "profiled" for section in profile["sections"])
    return {section["name"].partition("+")[0]: section for section in profile["sections"]}


def line_of(text: str) -> int:
    [line] = [n for n, at in enumerate(PROGRAM.read_text().splitlines(), 1) if text in at]
    return line


@pytest.mark.parametrize("algorithm", SPECULATIVE)
def test_a_conflict_is_explained(gnu_tm: GnuTm, tmp_path: Path, algorithm: str) -> None:
    found = sections(profiled(gnu_tm, tmp_path, algorithm))
    reader = found["reader"]
    assert reader["file"].endswith("profiled.c")
    assert reader["commits"] == found["writer"]["commits"] >= 1
    about = [abort for abort in reader["aborts"] if abort["cause"] == "validation"]
    assert about
    for abort in about:
        assert abort["location"]["kind"] == "global"
        assert (abort["location"]["symbol"], abort["location"]["offset"]) == (
            "contested",
            0,
        )
        assert abort["other"] == found["writer"]["name"]
    if algorithm != "norec":  # which logs no place with its reads
        assert {abort["location"]["line"] for abort in about} == {line_of("seen = contested")}
    assert reader["retries"]["max"] == sum(abort["count"] for abort in reader["aborts"])


def test_a_lock_that_another_has_is_explained(gnu_tm: GnuTm, tmp_path: Path) -> None:
    program = gnu_tm.compile("profiled_locks", [PROGRAM.parent / "profiled_locks.c"], ["-g"])
    path = tmp_path / "profile.json"
    environment = {"TANDEM_PROFILE": str(path), "TANDEM_POLICY": "polka"}
    outcome = gnu_tm.run(program, algorithm="two-phase", environment=environment)
    assert (outcome.status, outcome.output) == (0, "")
    profile = json.loads(path.read_text())
    obeys(profile)
    assert profile["run"]["algorithm"] == "two-phase"
    assert profile["run"]["policy"]["contention"] == "polka"
    found = {section["name"].partition("+")[0]: section for section in profile["sections"]}
    reader, writer = found["reader"], found["writer"]
    [abort] = reader["aborts"]
    assert abort["cause"] == "locked"
    assert abort["count"] >= 2
    assert abort["location"]["symbol"] == "contested"
    assert abort["other"] == writer["name"]
    assert (reader["commits"], writer["commits"], writer["aborts"]) == (1, 1, [])
    assert reader["read_set"] == {"counts": [0, 1], "sum": 1, "max": 1}
    assert writer["write_set"] == {"counts": [0, 1], "sum": 1, "max": 1}


def found_by(
    gnu_tm: GnuTm, folder: Path, name: str, algorithm: str, **environment: str
) -> dict[str, dict[str, Any]]:
    """The sections of gnu_tm/NAME.c, by the function that begins them."""
    program = gnu_tm.compile(name, [PROGRAM.parent / f"{name}.c"], ["-g"])
    path = folder / "profile.json"
    variables = {"TANDEM_PROFILE": str(path), **environment}
    outcome = gnu_tm.run(program, algorithm=algorithm, environment=variables)
    assert (outcome.status, outcome.output) == (0, "")
    profile = json.loads(path.read_text())
    obeys(profile)
    return {section["name"].partition("+")[0]: section for section in profile["sections"]}


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_of_many_executions_some_are_measured(
    gnu_tm: GnuTm, tmp_path: Path, algorithm: str
) -> None:
    executions, first, period = 40_000, 256, 32
    parts = 4  # two sections of two threads
    found = found_by(gnu_tm, tmp_path, "sampled", algorithm, TANDEM_PROFILE_PERIOD="")
    run = json.loads((tmp_path / "profile.json").read_text())["run"]
    assert (run["executions"], run["period"]) == (executions, period)
    sampled = (executions - parts * first) / period
    assert parts * first + sampled / 2 < run["measured"] < parts * first + sampled * 2
    kept, undone = found["kept"], found["undone"]
    assert undone["commits"] == 0
    cancelled = sum(x["count"] for x in undone["aborts"] if x["cause"] == "cancel")
    # Those behind the last one that was measured are in no count.
    known = kept["commits"] + cancelled
    assert executions - parts * (2 * period - 2) <= known <= executions
    assert executions / 2 - parts * (2 * period - 2) <= kept["commits"] <= executions / 2
    assert kept["write_set"]["max"] <= 1


@pytest.mark.parametrize("period", ["", "2", "3"])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_actions_of_a_commit_are_executions_too(
    gnu_tm: GnuTm, tmp_path: Path, algorithm: str, period: str
) -> None:
    variables = {"TANDEM_PROFILE_PERIOD": period}
    found = found_by(gnu_tm, tmp_path, "sampled_actions", algorithm, **variables)
    run = json.loads((tmp_path / "profile.json").read_text())["run"]
    assert run["executions"] == 4000
    for name in ("around", "within"):
        assert 2000 - 62 <= found[name]["commits"] <= 2000


@pytest.mark.parametrize("algorithm", SPECULATIVE)
def test_who_is_not_measured_wins_by_name(gnu_tm: GnuTm, tmp_path: Path, algorithm: str) -> None:
    found = found_by(gnu_tm, tmp_path, "sampled_conflict", algorithm, TANDEM_PROFILE_PERIOD="3")
    reader, writer = found["reader"], found["writer"]
    lost = [x for x in reader["aborts"] if x["cause"] in ("validation", "locked")]
    assert sum(x["count"] for x in lost) > 300
    assert {x["other"] for x in lost} == {writer["name"]}
    assert {x["location"]["symbol"] for x in lost} == {"contested"}


def test_a_child_counts_its_own(gnu_tm: GnuTm, tmp_path: Path) -> None:
    program = gnu_tm.compile("sampled_actions", [PROGRAM.parent / "sampled_actions.c"], ["-g"])
    variables = {"TANDEM_PROFILE": str(tmp_path / "profile.json"), "TANDEM_PROFILE_PERIOD": ""}
    outcome = gnu_tm.run(program, "fork", algorithm="norec", environment=variables)
    assert (outcome.status, outcome.output) == (0, "")
    [path] = tmp_path.glob("profile.json.*")
    profile = json.loads(path.read_text())
    obeys(profile)
    assert (profile["run"]["executions"], profile["run"]["measured"]) == (20, 20)
    [section] = profile["sections"]
    assert section["commits"] == 20
    assert json.loads((tmp_path / "profile.json").read_text())["run"]["executions"] == 600


def test_every_execution_is_measured_where_that_is_asked_for(gnu_tm: GnuTm, tmp_path: Path) -> None:
    found = found_by(gnu_tm, tmp_path, "sampled", "norec", TANDEM_PROFILE_PERIOD="1")
    run = json.loads((tmp_path / "profile.json").read_text())["run"]
    assert run["measured"] == run["executions"] == 40_000
    assert found["kept"]["commits"] == 20_000


@pytest.mark.parametrize("period", ["0", "-1", "often", "1000001"])
def test_a_period_that_is_none_is_refused(gnu_tm: GnuTm, tmp_path: Path, period: str) -> None:
    program = gnu_tm.compile("sampled", [PROGRAM.parent / "sampled.c"], ["-g"])
    outcome = gnu_tm.run(program, algorithm="norec", environment={"TANDEM_PROFILE_PERIOD": period})
    assert outcome.status == 2
    assert outcome.output == (
        f"libitm: error: TANDEM_PROFILE_PERIOD={period} is not known; the valid values are "
        "1 to 1000000\n"
    )


def test_one_that_was_told_to_begin_again_says_for_which_memory(
    gnu_tm: GnuTm, tmp_path: Path
) -> None:
    found = found_by(gnu_tm, tmp_path, "profiled_killed", "eager", TANDEM_POLICY="timestamp")
    [abort] = found["victim"]["aborts"]
    assert (abort["cause"], abort["count"], abort["other"]) == (
        "killed",
        1,
        found["killer"]["name"],
    )
    assert (abort["location"]["kind"], abort["location"]["symbol"]) == ("global", "contested")


@pytest.mark.parametrize("algorithm", SPECULATIVE)
def test_waiting_for_others_after_the_commit_is_waiting(
    gnu_tm: GnuTm, tmp_path: Path, algorithm: str
) -> None:
    time = found_by(gnu_tm, tmp_path, "profiled_quiescence", algorithm)["writer"]["time"]
    assert time["waiting_ns"] > time["section_ns"] / 2 > 0


@pytest.mark.parametrize("algorithm", SPECULATIVE)
def test_sets_cancels_and_demands(gnu_tm: GnuTm, tmp_path: Path, algorithm: str) -> None:
    found = sections(profiled(gnu_tm, tmp_path, algorithm))
    assert found["canceller"]["aborts"] == [{"cause": "cancel", "count": 3}]
    assert found["canceller"]["commits"] == 0
    reads = found["sixteen_reads"]["read_set"]
    # Eager and lazy log a record of four words once for neighbours.
    assert reads["max"] == (16 if algorithm == "norec" else reads["sum"]) >= 4
    commits = found["writer"]["commits"]
    assert found["writer"]["write_set"] == {"counts": [0, commits], "sum": commits, "max": 1}
    [demand] = found["demander"]["serialisations"]
    assert (demand["cause"], demand["count"]) == ("requested", 1)
    functions = [frame["function"] for frame in demand["stack"]]
    assert functions[:2] == ["demander", "main"]
    assert found["demander"]["time"]["irrevocable_ns"] > 0


@pytest.mark.parametrize("algorithm", SPECULATIVE)
def test_memory_is_named_by_its_allocation(gnu_tm: GnuTm, tmp_path: Path, algorithm: str) -> None:
    program = gnu_tm.compile("profiled", [PROGRAM], ["-g"])
    path = tmp_path / "profile.json"
    environment = {
        "TANDEM_PROFILE": str(path),
        "LD_PRELOAD": str(LIBRARY / "libtandem_allocations.so"),
    }
    outcome = gnu_tm.run(program, algorithm=algorithm, environment=environment)
    assert (outcome.status, outcome.output) == (0, "")
    found = sections(path)["box_reader"]["aborts"]
    about = [abort["location"] for abort in found if abort["cause"] == "validation"]
    assert {location["kind"] for location in about} == {"heap"}
    assert {location["symbol"] for location in about} == {
        "plain_box",
        "box_of_a_transaction",
    }
    assert {location["offset"] for location in about} == {5000}
    assert all(location["allocation_file"].endswith("profiled.c") for location in about)
    lines = {location["allocation_line"] for location in about}
    assert lines == {line_of("box = calloc"), line_of("box = malloc")}


def test_serial(gnu_tm: GnuTm, tmp_path: Path) -> None:
    program = gnu_tm.compile("handlers", [PROGRAM.parent / "handlers.c"])
    path = tmp_path / "serial.json"
    outcome = gnu_tm.run(program, algorithm="serial", environment={"TANDEM_PROFILE": str(path)})
    assert outcome.status == 0, outcome.output
    profile = json.loads(path.read_text())
    obeys(profile)
    assert profile["run"]["algorithm"] == "serial"
    assert profile["run"]["policy"]["contention"] == "none"
    for section in profile["sections"]:
        assert {entry["cause"] for entry in section["serialisations"]} <= {
            "algorithm",
            "irrevocable-begin",
            "irrevocable-call",
            "requested",
        }
        assert section["read_set"]["max"] == 0


def test_many_threads(gnu_tm: GnuTm, tmp_path: Path) -> None:
    micro = ROOT / "workloads/micro"
    program = gnu_tm.compile(
        "micro", [micro / "micro.c", micro / "structures.c"], ["-DMICRO_GNU_TM"]
    )
    for algorithm in SPECULATIVE:
        path = tmp_path / f"{algorithm}.json"
        environment = {"TANDEM_PROFILE": str(path)}
        outcome = gnu_tm.run(
            program, "tree-50", "6", "80", algorithm=algorithm, environment=environment
        )
        assert outcome.status == 0, outcome.output
        profile = json.loads(path.read_text())
        obeys(profile)
        assert profile["run"]["threads"] == 6
        done = json.loads(outcome.output)["operations"]
        assert sum(section["commits"] for section in profile["sections"]) >= done


def test_a_child_writes_its_own(gnu_tm: GnuTm, tmp_path: Path) -> None:
    path = profiled(gnu_tm, tmp_path, "norec", "fork")
    [of_child] = [file for file in tmp_path.iterdir() if file != path]
    assert of_child.name.startswith("profile.json.")
    for file in (path, of_child):
        assert sections(file)["writer"]["commits"] >= 1


def test_libraries_that_are_closed_keep_their_names(gnu_tm: GnuTm, tmp_path: Path) -> None:
    folder = PROGRAM.parent
    program = gnu_tm.compile("closing", [folder / "closing.c"])
    libraries = [tmp_path / name for name in ("a.so", "b.so", "1/c.so", "2/c.so")]
    for library in libraries:
        library.parent.mkdir(exist_ok=True)
        command = ["gcc", "-g", "-O2", "-shared", "-fPIC", "-fgnu-tm", str(folder / "closed.c")]
        subprocess.run([*command, "-o", str(library)], check=True)
    path = tmp_path / "profile.json"
    environment = {"TANDEM_PROFILE": str(path)}
    outcome = gnu_tm.run(program, *map(str, libraries), algorithm="norec", environment=environment)
    # All were mapped to the same place, without which this would show nothing.
    assert (outcome.status, outcome.output) == (0, "1\n")
    profile = json.loads(path.read_text())
    obeys(profile)
    found = profile["sections"]
    assert [(x["output"], x["commits"]) for x in found] == [
        ("a.so", 3),
        ("b.so", 6),
        ("c.so", 9),
        ("c.so", 12),
    ]
    assert all(x["file"].endswith("closed.c") and x["line"] == 4 for x in found)
    assert [x["name"].partition("+")[0] for x in found] == ["count"] * 4


def test_a_file_that_cannot_be_written(gnu_tm: GnuTm, tmp_path: Path) -> None:
    program = gnu_tm.compile("profiled", [PROGRAM], ["-g"])
    environment = {"TANDEM_PROFILE": str(tmp_path / "no/such.json")}
    outcome = gnu_tm.run(program, algorithm="norec", environment=environment)
    assert outcome.status == 2
    assert outcome.output == (
        f"libitm: error: TANDEM_PROFILE={tmp_path}/no/such.json: cannot be written: "
        "No such file or directory\n"
    )


def test_a_folder_is_refused_before_main(gnu_tm: GnuTm, tmp_path: Path) -> None:
    program = gnu_tm.compile("profiled", [PROGRAM], ["-g"])
    environment = {"TANDEM_PROFILE": str(tmp_path)}
    outcome = gnu_tm.run(program, algorithm="norec", environment=environment)
    assert outcome.status == 2
    assert outcome.output == (
        f"libitm: error: TANDEM_PROFILE={tmp_path}: cannot be written: Is a directory\n"
    )


def test_what_is_no_file_stays_what_it_is(gnu_tm: GnuTm, tmp_path: Path) -> None:
    program = gnu_tm.compile("profiled", [PROGRAM], ["-g"])
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    # Open for reading and writing, so that nobody waits for the other end.
    reader = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
    try:
        outcome = gnu_tm.run(program, algorithm="norec", environment={"TANDEM_PROFILE": str(pipe)})
        assert (outcome.status, outcome.output) == (0, "")
        assert stat.S_ISFIFO(pipe.stat().st_mode)
        assert json.loads(os.read(reader, 65536))["version"] == 1
    finally:
        os.close(reader)


def test_a_link_stays_and_leads_to_the_profile(gnu_tm: GnuTm, tmp_path: Path) -> None:
    program = gnu_tm.compile("profiled", [PROGRAM], ["-g"])
    (tmp_path / "real.json").write_text("of an earlier run")
    (tmp_path / "link.json").symlink_to("real.json")
    environment = {"TANDEM_PROFILE": str(tmp_path / "link.json")}
    outcome = gnu_tm.run(program, algorithm="norec", environment=environment)
    assert outcome.status == 0
    assert (tmp_path / "link.json").is_symlink()
    assert json.loads((tmp_path / "real.json").read_text())["version"] == 1


def test_a_link_that_leads_to_nothing_is_refused(gnu_tm: GnuTm, tmp_path: Path) -> None:
    program = gnu_tm.compile("profiled", [PROGRAM], ["-g"])
    link = tmp_path / "link.json"
    link.symlink_to("nowhere/at/all.json")
    outcome = gnu_tm.run(program, algorithm="norec", environment={"TANDEM_PROFILE": str(link)})
    assert outcome.status == 2
    assert link.is_symlink()


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/stderr", "/proc/self/fd/1"])
def test_what_is_open_already_is_appended_to(gnu_tm: GnuTm, tmp_path: Path, name: str) -> None:
    program = gnu_tm.compile("profiled", [PROGRAM], ["-g"])
    log = tmp_path / "log"
    log.write_text("of an earlier run\n")
    with log.open("a") as out:
        done = subprocess.run(
            [str(program)],
            env=os.environ | {"LD_LIBRARY_PATH": str(LIBRARY), "TANDEM_PROFILE": name},
            stdout=out,
            stderr=out,
            check=False,
            timeout=60,
        )
    assert done.returncode == 0
    first, _, rest = log.read_text().partition("\n")
    assert first == "of an earlier run"
    assert json.loads(rest)["version"] == 1
    assert [file.name for file in tmp_path.iterdir()] == ["log"]


def test_a_pipe_without_a_reader_is_an_error_line(gnu_tm: GnuTm, tmp_path: Path) -> None:
    program = gnu_tm.compile("profiled", [PROGRAM], ["-g"])
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    environment = {"TANDEM_PROFILE": str(pipe)}
    outcome = gnu_tm.run(program, "fork", algorithm="norec", environment=environment)
    assert outcome.status == 0
    line = f"libitm: error: the profile {pipe} cannot be written: No such device or address\n"
    assert outcome.output == line * 2
    assert [file.name for file in tmp_path.iterdir()] == ["pipe"]


def test_the_number_of_the_process_in_the_name(gnu_tm: GnuTm, tmp_path: Path) -> None:
    program = gnu_tm.compile("profiled", [PROGRAM], ["-g"])
    environment = {
        "TANDEM_PROFILE": str(tmp_path / "of-%p-%p.json"),
        "TANDEM_SERIALISE_AFTER": "never",
    }
    outcome = gnu_tm.run(program, "fork", algorithm="norec", environment=environment)
    assert outcome.status == 0
    profiles = {file.name: json.loads(file.read_text())["run"] for file in tmp_path.glob("of-*")}
    assert len(profiles) == 2
    for name, of_run in profiles.items():
        assert name == f"of-{of_run['pid']}-{of_run['pid']}.json"
        assert of_run["policy"]["serialise_after"] == 0


def test_report(gnu_tm: GnuTm, tmp_path: Path) -> None:
    path = profiled(gnu_tm, tmp_path, "lazy")
    page = tmp_path / "page.html"
    command = [
        str(LIBRARY.parent / "bin/tandem"),
        "report",
        str(path),
        "--html",
        str(page),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    for word in ("reader+", "validation", "contested", "writer+", "requested", "main"):
        assert word in done.stdout
    text = page.read_text()
    # Of its own only: a filter, light or dark, keys.
    assert text.count("<script") == 1
    assert "script-src 'sha256-" in text
    assert "Who aborts whom" in text
    assert "contested" in text


def test_report_explains_what_it_cannot_read(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    for content, message in (
        ("{}", "not a profile"),
        ('{"version": 9, "run": {}}', "version 9 of the format is not known"),
        ('{"version": 9}', "version 9 of the format is not known"),
        ("]", f"{file}:1:1: not JSON: unexpected ']'"),
        ('{"version": 1, "run": {"program": 3}}', "(/run/program) type must be string"),
        ('{"version": 1, "run": {"threads": -3}}', "(/run/threads) a number is below 0"),
        ('{"version": 1, "run": {"threads": 3.5}}', "(/run/threads) a number is not whole"),
        (
            '{"version": 1, "run": {"pid": 18446744073709551616}}',
            "(/run/pid) a number is not whole",
        ),
    ):
        file.write_text(content)
        command = [str(LIBRARY.parent / "bin/tandem"), "report", str(file)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1
        assert message in done.stderr


def test_report_explains_sections_that_are_none(gnu_tm: GnuTm, tmp_path: Path) -> None:
    path = profiled(gnu_tm, tmp_path, "norec")
    path.write_text(json.dumps(json.loads(path.read_text()) | {"sections": "x"}))
    command = [str(LIBRARY.parent / "bin/tandem"), "report", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    message = f"tandem report: {path}: not a profile: (/sections) not a list\n"
    assert (done.returncode, done.stderr) == (2, message)
