# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`tandem machine list, run, compare, test, trace`, as a user meets them."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

MACHINE = Path(os.environ["TANDEM_BUILD"]) / "libexec" / "tandem-machine"
DOCS = Path(__file__).resolve().parents[2] / "docs"
SHORT = ("--accesses", "20000", "--warm-up", "20000")


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


def refused(*arguments: str) -> str:
    done = machine(*arguments)
    assert done.returncode == 2, (arguments, done.stdout, done.stderr)
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    return done.stderr


def result(*arguments: str) -> dict[str, Any]:
    done = machine("run", *arguments, "--json", "-")
    assert done.returncode == 0, done.stderr
    loaded: dict[str, Any] = json.loads(done.stdout)
    return loaded


def test_the_list_names_everything() -> None:
    done = machine("list", "--json", "-")
    listed = json.loads(done.stdout)
    names = [x["name"] for x in listed["protocols"]]
    assert {"mesi-snoop", "token-b", "sparse-directory", "mosaic", "flask", "flask-plus"} <= set(
        names
    )
    assert {x["name"] for x in listed["configurations"]} >= {"flask", "metatm"}
    stand_ins = [x for x in listed["workloads"] if x["family"] != "kernel"]
    assert len(stand_ins) == 10
    assert all("stands in for" in x["about"] for x in stand_ins)


def test_every_field_is_documented_as_it_is() -> None:
    fields = machine("list", "--fields").stdout
    assert fields in (DOCS / "machine" / "configuration.md").read_text(encoding="utf-8")


def test_a_printed_configuration_is_a_configuration(tmp_path: Path) -> None:
    text = machine("list", "--config", "metatm", "--set", "cores=3").stdout
    path = tmp_path / "m.toml"
    path.write_text(text, encoding="utf-8")
    assert machine("list", "--config", str(path)).stdout == text


def test_a_run_as_table_and_as_json(tmp_path: Path) -> None:
    out = tmp_path / "r.json"
    done = machine("run", "-p", "flask", "-w", "oltp-like", *SHORT, "--json", str(out))
    assert done.returncode == 0, done.stderr
    assert "execution time" in done.stdout
    assert "CACTI" in done.stdout
    loaded = json.loads(out.read_text(encoding="utf-8"))
    run = loaded["runs"][0]
    assert loaded["complete"] is True
    assert run["accesses"] == 20000
    assert run["metrics"]["cycles"] == run["cycles"] == loaded["metrics"]["cycles"]["mean"]
    cores = run["counts"]["cores"]
    assert (
        sum(x["count"] for x in cores["miss_latency"]["buckets"])
        == (cores["miss_latency"]["count"])
    )
    assert run["energy"]["sources"]


@pytest.mark.parametrize(
    "protocol", ["mesi-snoop", "token-b", "sparse-directory", "mosaic", "flask", "flask-plus"]
)
def test_the_same_seed_gives_the_same_cycles(protocol: str) -> None:
    bus = ("--set", "network.kind=bus") if protocol == "mesi-snoop" else ()
    arguments = ("-p", protocol, "-w", "lu-like", *SHORT, *bus)
    first, again = result(*arguments), result(*arguments)
    for run in (first["runs"][0], again["runs"][0]):
        del run["host"]
    assert first == again


def test_several_seeds_have_intervals() -> None:
    loaded = result("-p", "sparse-directory", "-w", "jbb-like", *SHORT, "--seeds", "3")
    assert [x["seed"] for x in loaded["runs"]] == [1, 2, 3]
    cycles = loaded["metrics"]["cycles"]
    assert min(x["cycles"] for x in loaded["runs"]) < cycles["mean"]
    assert cycles["half_width_95"] > 0


def test_settings_change_the_machine() -> None:
    arguments = ("-p", "sparse-directory", "-w", "apache-like", *SHORT)
    large = result(*arguments)["runs"][0]
    small = result(*arguments, "--set", "directory.provision_percent=5", "--set", "l2.latency=3")
    evictions = [x["counts"]["homes"]["directory_evictions"] for x in (large, small["runs"][0])]
    assert evictions[1] > evictions[0]
    assert "provision_percent = 5\n" in small["configuration"]["toml"]


@pytest.mark.parametrize(
    "protocol", ["mesi-snoop", "token-b", "sparse-directory", "mosaic", "flask", "flask-plus"]
)
def test_a_device_reads_and_writes_beside_the_cores(protocol: str) -> None:
    bus = ("--set", "network.kind=bus") if protocol == "mesi-snoop" else ()
    loaded = result("-p", protocol, "-w", "device", *SHORT, *bus, "--check-values")
    devices = loaded["runs"][0]["counts"]["devices"]
    assert devices == {"reads": 1000, "writes": 1000}


def test_the_mesh_follows_the_cores() -> None:
    arguments = ("-p", "flask", "-w", "migratory", *SHORT)
    for cores, columns in ((16, 4), (64, 8), (5, 3)):
        given = ("--set", f"cores={cores}")
        square = result(*arguments, *given, "--set", f"network.columns={columns}")["runs"][0]
        assert result(*arguments, *given)["runs"][0]["cycles"] == square["cycles"]


def test_multicast_saves_traffic() -> None:
    arguments = ("-p", "token-b", "-w", "migratory", *SHORT)
    links = [
        sum(x["link_flits"] for x in loaded["runs"][0]["network"]["virtual_networks"])
        for loaded in (
            result(*arguments),
            result(*arguments, "--set", "network.multicast=false"),
        )
    ]
    assert links[0] < 0.8 * links[1]


def test_memory_follows_what_is_touched() -> None:
    # 16 cores, 16 MB of LLC, a gigabyte of private data of which every block is on another page.
    loaded = result(
        "-p", "flask", "-w", "apache-like", "--accesses", "20000", "--warm-up", "0",
        "--fast-forward", "10000000",
    )  # fmt: skip
    assert loaded["runs"][0]["host"]["peak_memory_bytes"] < 200e6


def test_more_lookups_hit_where_members_have_no_cell() -> None:
    arguments = (
        "-p", "flask", "-w", "omnetpp-like", "--accesses", "50000", "--warm-up", "0",
        "--fast-forward", "1500000", "--check-values",
    )  # fmt: skip
    full, enough = (
        result(*arguments, "--set", f"directory.provision_percent={percent}")["metrics"]
        for percent in (20, 160)
    )
    assert full["filter_spilled"]["mean"] > 0
    assert enough["filter_spilled"]["mean"] == 0
    for metrics in (full, enough):
        assert metrics["filter_false_positive_percent"]["mean"] == pytest.approx(
            metrics["filter_expected_percent"]["mean"], rel=0.5
        )


def test_interrupted_runs_leave_a_valid_part(tmp_path: Path) -> None:
    out = tmp_path / "r.json"
    command = [
        str(MACHINE),
        "run",
        "-p",
        "flask",
        "-w",
        "oltp-like",
        "--json",
        str(out),
    ]
    command += ["--accesses", "100000000000", "--warm-up", "0", "--fast-forward", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        wait_until_interruptible(process.pid)
        process.send_signal(signal.SIGINT)
        text, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "was interrupted" in text
    loaded = json.loads(out.read_text(encoding="utf-8"))
    assert loaded["complete"] is False
    assert loaded["runs"][0]["accesses"] > 0
    assert loaded["runs"][0]["cycles"] > 0


def test_a_trace_is_replayed(tmp_path: Path) -> None:
    trace = tmp_path / "t"
    arguments = ("--cores", "4", "--accesses", "50000", "-w", "locks", "-o", str(trace))
    assert machine("trace", *arguments).returncode == 0
    assert trace.stat().st_size == 16 + 16 * 50000
    loaded = result("-p", "flask", "--trace", str(trace))
    cores = loaded["runs"][0]["counts"]["cores"]
    assert cores["loads"] + cores["stores"] + cores["fetches"] == 50000
    trace.write_bytes(trace.read_bytes()[:-1])
    assert "ends within record 49999" in refused("run", "-p", "flask", "--trace", str(trace))


def test_the_random_tester() -> None:
    done = machine("test", "sparse-directory", "--seeds", "5", "--option", "moesi")
    assert done.returncode == 0
    assert re.search(r"5 seeds, \d+ accesses, every value right", done.stdout)
    assert "flask has these options: two_phase" in refused("test", "flask", "--option", "moesi")
    assert machine("test", "flask", "--seeds", "1", "--option", "no-two_phase").returncode == 0


def test_a_comparison(tmp_path: Path) -> None:
    out = tmp_path / "c.json"
    done = machine(
        "compare", "-p", "flask", "-p", "token-b", "-w", "migratory", "-w", "private",
        "--provision", "160", "--provision", "5", *SHORT, "--json", str(out),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "cycles relative to flask 160%"
    assert [x.split("  ")[0] for x in lines[2:]] == [
        "flask 160%",
        "flask 5%",
        "token-b",
    ]
    assert re.search(r"1\.000 +1\.000$", lines[2])
    points = json.loads(out.read_text(encoding="utf-8"))["points"]
    assert len(points) == 6


def test_a_filter_alone_agrees_with_its_formula() -> None:
    for kind in ("d-left", "counting-bloom"):
        done = machine("filter", "--kind", kind, "--lookups", "100000", "--json", "-")
        assert done.returncode == 0, done.stderr
        rates = json.loads(done.stdout)
        sampling = 4 * (rates["formula_percent"] / 100000) ** 0.5 * 10
        assert (
            abs(rates["false_positive_percent"] - rates["formula_percent"])
            < sampling + 0.03 * rates["formula_percent"]
        )
    assert "must be a power of 2" in refused("filter", "--rows", "250")
    assert "give d-left or counting-bloom" in refused("filter", "--kind", "exact")


def test_a_mutant_is_drawn() -> None:
    only = ("--mutants", "--only", "core S/- Store: left out")
    done = machine("check", "mesi-snoop", *only, "--charts")
    assert done.returncode == 0, done.stderr
    what, chart = done.stdout.split("\n", 1)
    assert what.startswith("core S/- Store: left out: no row: core in state S, transaction -")
    assert "C0" in chart
    assert "at the end: no row" in chart
    assert chart.endswith("1 of 1 mutants are noticed\n")
    assert machine("check", "mesi-snoop", *only).stdout == "1 of 1 mutants are noticed\n"
    assert "say --mutants" in refused("check", "mesi-snoop", "--charts")
    assert "say --mutants" in refused("check", "mesi-snoop", "--only", "Store")


def test_a_directory_may_have_one_way_and_no_filter() -> None:
    narrow = ("-w", "lu-like", *SHORT, "--set", "directory.ways=1", "--set", "filter.sub_tables=0")
    assert result("-p", "sparse-directory", *narrow)["runs"][0]["complete"]
    # Without a cell every member is counted beside the filter.
    metrics = result("-p", "flask", *narrow)["metrics"]
    assert metrics["filter_spilled"]["mean"] == metrics["filter_members"]["mean"] > 0


def test_sizes_that_cannot_differ_are_said() -> None:
    common = ("compare", "-p", "sparse-directory", "-w", "migratory", *SHORT, "--provision")
    alike = machine(*common, "160", "--provision", "80")
    assert alike.returncode == 0
    assert (
        "no directory entry was evicted at 160 %, 80 %: these sizes cannot differ" in alike.stderr
    )
    assert "cannot differ" not in machine(*common, "160").stderr


def test_a_comparison_as_csv() -> None:
    done = machine(
        "compare", "-p", "flask", "-w", "migratory", *SHORT, "--provision", "40", "--seeds", "2",
        "--csv", "-",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert {(x["protocol"], x["workload"], x["provision_percent"]) for x in rows} == {
        ("flask", "migratory", "40")
    }
    cycles = [x for x in rows if x["metric"] == "cycles"]
    assert [x["seed"] for x in cycles] == ["1", "2"]
    assert all(float(x["value"]) > 0 for x in cycles)


def test_options_are_spelled_alike() -> None:
    run = ("-p", "flask", "-w", "lu-like", *SHORT)
    by_option = result(*run, "--option", "no-two_phase")["runs"][0]
    by_setting = result(*run, "--set", "options.flask.two_phase=false")["runs"][0]
    assert by_option["cycles"] == by_setting["cycles"] != result(*run)["runs"][0]["cycles"]


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["rum"], "did you mean 'run'"),
        (["run", "-w", "locks"], "--protocol"),
        (["compare", "-p", "flask", "--metric", "bogus"], "no such metric; there are cycles, ipc"),
        # Known, but none of these protocols has it.
        (["compare", "-p", "token-b", "--metric", "filter_members"], "no such metric"),
        (
            ["compare", "-p", "flask", "-p", "token-b", "--baseline", "flask 41%"],
            "no such row; there are flask 160%, flask 40%, flask 5%, token-b",
        ),
        (
            ["run", "-p", "token-b", "-w", "locks", "--option", "two_phase"],
            "token-b has these options: migratory",
        ),
        (["compare", "-p", "mesi-snoop", "--option", "x"], "has these options: transactions"),
        (
            ["run", "-p", "flask"],
            "--workload NAME, --trace FILE, --program FILE and --boot COMMAND",
        ),
        (["run", "-p", "flsk", "-w", "locks"], "there is no protocol 'flsk'"),
        (["run", "-p", "flask", "-w", "lokcs"], "there is no workload 'lokcs'"),
        (
            ["run", "-p", "flask", "-w", "locks", "-c", "flsk"],
            "there is no configuration",
        ),
        (["run", "-p", "flask", "-w", "locks", "-c", "metatm"], "needs a mesh"),
        (["run", "-p", "mesi-snoop", "-w", "locks"], "needs a bus"),
        (
            ["run", "-p", "flask", "-w", "locks", "--set", "x.y=1"],
            "--set x.y=1: unknown",
        ),
        (
            ["run", "-p", "flask", "-w", "locks", "--set", "cores=0"],
            "must be from 1 to 64",
        ),
        (
            ["run", "-p", "flask", "-w", "locks", "--json", "/no/such/file"],
            "/no/such/file",
        ),
        (["run", "-p", "flask", "--trace", "/no/such/trace"], "cannot be read"),
        (["compare", "-p", "flask", "--provision", "0.01"], "provision_percent"),
        (["test", "dragon"], "there is no protocol 'dragon'"),
    ],
)
def test_mistakes_are_one_line(arguments: list[str], text: str) -> None:
    assert text in refused(*arguments)


def test_mistakes_in_files_have_their_place(tmp_path: Path) -> None:
    path = tmp_path / "m.toml"
    path.write_text("version = 1\n[llc]\nslice_kb = 4\n", encoding="utf-8")
    text = refused("run", "-p", "flask", "-w", "locks", "-c", str(path))
    assert f"{path}:3:1: unknown field 'slice_kb' in [llc]" in text


def test_the_host_s_figures_are_of_what_was_timed() -> None:
    """Also where all of it is shorter than one look at the clock."""
    for fast_forward in (0, 50_000):
        run = result(
            "-p", "flask", "-w", "oltp-like", *SHORT, "--fast-forward", str(fast_forward)
        )["runs"][0]  # fmt: skip
        assert run["host"]["accesses"] == 40_000
        assert run["host"]["cpu_s"] > 0


def test_an_interrupted_trace_leaves_nothing(tmp_path: Path) -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        command = [str(MACHINE), "trace", "-w", "locks", "-o", str(tmp_path / "t")]
        with subprocess.Popen([*command, "--accesses", "100000000000"]) as process:
            wait_until_interruptible(process.pid)
            process.send_signal(number)
            process.wait(timeout=60)
        assert process.returncode == (-number if number == signal.SIGKILL else 130)
        assert list(tmp_path.iterdir()) == []


def test_outputs_replace_no_input(tmp_path: Path) -> None:
    trace = tmp_path / "t"
    machine("trace", "-w", "locks", "--cores", "4", "--accesses", "1000", "-o", str(trace))
    (tmp_path / "link").symlink_to(trace)
    configuration = tmp_path / "m.toml"
    configuration.write_text("version = 1\n", encoding="utf-8")
    before = [x.read_bytes() for x in (trace, configuration)]
    run = ("run", "-p", "flask", "--json")
    for arguments in (
        (*run, str(trace), "--trace", str(trace)),
        (*run, str(tmp_path / "link"), "--trace", str(trace)),
        (*run, str(configuration), "-w", "locks", "-c", str(configuration)),
        ("compare", "--json", str(configuration), "-c", str(configuration)),
        ("list", "--json", str(configuration), "--config", str(configuration)),
    ):
        assert "is an input, and would be overwritten" in refused(*arguments)
    assert [x.read_bytes() for x in (trace, configuration)] == before


def test_csv_and_intervals_add_up(tmp_path: Path) -> None:
    """What is dumped of intervals sums up to the run: cycles exactly, rates by their accesses."""
    intervals, totals = tmp_path / "i.csv", tmp_path / "t.csv"
    run = machine(
        "run", "-p", "flask", "-w", "oltp-like", *SHORT, "--seeds", "2", "--every", "5000",
        "--intervals", str(intervals), "--csv", str(totals),
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    rows = list(csv.DictReader(io.StringIO(intervals.read_text(encoding="utf-8"))))
    assert [(x["seed"], x["until_access"]) for x in rows] == [
        (seed, str(n)) for seed in "12" for n in (5000, 10000, 15000, 20000)
    ]
    whole = {
        (x["seed"], x["metric"]): float(x["value"])
        for x in csv.DictReader(io.StringIO(totals.read_text(encoding="utf-8")))
    }
    assert {x[1] for x in whole} >= {"cycles", "ipc", "flit_hops", "edp"}
    for seed in "12":
        own = [x for x in rows if x["seed"] == seed]
        # The run ends where the last access is issued, as its last interval does.
        assert sum(float(x["cycles"]) for x in own) == whole[seed, "cycles"]
        assert float(own[-1]["until_cycle"]) == whole[seed, "cycles"]
        for name in ("memory_reads", "flit_hops"):  # per 1000 accesses
            mean = sum(float(x[name]) for x in own) / len(own)
            assert abs(mean - whole[seed, name]) <= 1e-6 * whole[seed, name]
    assert "go together" in refused("run", "-p", "flask", "-w", "locks", "--every", "10")
    wrong = ("run", "-p", "flask", "-w", "locks", *SHORT, "--intervals", str(tmp_path / "x"))
    assert "only 20000 accesses are measured" in refused(*wrong, "--every", "20001")
    assert not (tmp_path / "x").exists()


def test_rows_that_a_filter_does_not_reach_are_said() -> None:
    provision = ("--set", "directory.provision_percent=100")
    done = machine("run", "-p", "flask", "-w", "locks", *SHORT, *provision)
    assert done.returncode == 0
    assert "640 sets of 8 ways, the filter's hashes reach 512 of them" in done.stderr
    assert "hashes" not in machine("run", "-p", "token-b", "-w", "locks", *SHORT, *provision).stderr
    assert "hashes" not in machine("run", "-p", "flask", "-w", "locks", *SHORT).stderr


def test_sizes_are_no_powers_of_two() -> None:
    """A cache of 3 sets works; one of no whole number of sets is refused."""
    settings = ("--set", "l1d.size_kib=3", "--set", "l1d.ways=16")
    assert result("-p", "token-b", "-w", "private", *SHORT, *settings)["complete"]
    message = refused("run", "-p", "flask", "-w", "locks", "--set", "l1d.ways=7")
    assert "512 blocks of 64 bytes (size_kib = 32) are not a multiple of 7 ways" in message


def test_traces_of_other_tools(tmp_path: Path) -> None:
    text = tmp_path / "t.txt"
    text.write_text(
        "tandem-trace 1 cores 2\n0 load 0x40 1\n1 store 0x80\n0 fetch 0xc0\n", encoding="utf-8"
    )
    trace, again = tmp_path / "t", tmp_path / "again.txt"
    assert machine("trace", "--from", "text", str(text), "-o", str(trace)).returncode == 0
    assert trace.stat().st_size == 16 + 3 * 16
    done = machine("trace", "--from", "trace", str(trace), "--text", "-o", str(again))
    assert done.returncode == 0, done.stderr
    assert sorted(again.read_text(encoding="utf-8").splitlines()[1:]) == [
        "0 fetch 0xc0 0", "0 load 0x40 1", "1 store 0x80 0",
    ]  # fmt: skip
    # Packets of two cores, merged by their ticks.
    for number in (0, 1):
        lines = [f"r,{4096 * number + 64 * i},8,0,{1000 * i + 500 * number}" for i in range(1000)]
        (tmp_path / f"p{number}").write_text("\n".join([*lines, "u,0,64,0,9999999"]) + "\n")
    merged = ("--from", "gem5", str(tmp_path / "p0"), str(tmp_path / "p1"), "-o", str(trace))
    done = machine("trace", *merged)
    assert done.returncode == 0
    assert done.stderr.count("1 line left out") == 2
    records = trace.read_bytes()[16:]
    assert [records[i + 12] for i in range(0, 6 * 16, 16)] == [0, 1, 0, 1, 0, 1]
    loaded = result("-p", "flask", "--trace", str(trace), "--warm-up", "0")
    assert loaded["runs"][0]["counts"]["cores"]["loads"] == 2000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "either --workload NAME, or --from FORMAT FILE"),
        (("--from", "gem5"), "--from needs a file"),
        (("-w", "locks", "FILE"), "files need --from FORMAT"),
        (("--from", "text", "FILE"), "FILE:1: is not 'tandem-trace 1 cores N'"),
        (("--from", "gem5", "EXEC"), "EXEC: has the accesses of more than 1 cores; use --cores N"),
        (("--from", "gem5", "EXEC", "EXEC"), "EXEC: has the accesses of several cores"),
        (("--from", "champsim", "FILE"), "FILE: ends within record 0"),
        (("--from", "trace", "FILE"), "FILE: is not a trace of accesses"),
    ],
)
def test_mistakes_with_other_traces(
    tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    (tmp_path / "FILE").write_text("hello\n", encoding="utf-8")
    (tmp_path / "EXEC").write_text(
        "".join(f"{i}: system.cpu{i % 2}: T0 : 0x100 : lw : MemRead : A=0x40\n" for i in range(9)),
        encoding="utf-8",
    )
    names = [str(tmp_path / x) if x.isupper() else x for x in arguments]
    said = refused("trace", *names, "-o", str(tmp_path / "out"))
    assert message in said.replace(f"{tmp_path}/", "")
    assert not (tmp_path / "out").exists()
