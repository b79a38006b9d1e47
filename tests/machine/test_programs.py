# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs in place of streams: the kernels of workloads/kernels by `tandem machine run`."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

MACHINE = Path(os.environ["TANDEM_BUILD"]) / "libexec" / "tandem-machine"
SOURCE = Path(__file__).resolve().parents[2]
KERNELS = {"fft": 16, "lu": 24, "nbody": 32, "radix": 1024, "sort": 1000}
SMALL = ("--config", "small", "--set", "cores=4", "--set", "network.columns=0")


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kernels")
    subprocess.run(
        [
            "make",
            "-s",
            "-f",
            str(SOURCE / "workloads/kernels/Makefile"),
            f"WORK={folder}",
        ],
        check=True,
    )
    return folder


def run(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(MACHINE), "run", *map(str, words)],
        capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_are_right_and_measured(kernels: Path, name: str) -> None:
    done = run(
        "-p", "flask", *SMALL, "--program", kernels / name, "--argument", "4",
        "--argument", str(KERNELS[name]), "--check-values", "--json", "-",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert f"{name}, 4 threads, size {KERNELS[name]}: right" in done.stderr
    result = json.loads(done.stdout)
    assert result["complete"]
    (one,) = result["runs"]
    assert one["workload"] == name
    metrics = {key: value["mean"] for key, value in result["metrics"].items()}
    assert 0 < one["instructions"] <= 4 * one["cycles"]
    assert 0 < metrics["shared_miss_percent"] <= 100
    assert metrics["footprint"] > 0
    assert 0 < metrics["shared_block_percent"] <= 100


def test_the_same_twice_and_every_protocol_the_same_work(kernels: Path) -> None:
    def results(protocol: str, *more: str) -> dict[str, float]:
        done = run(
            "-p", protocol, *SMALL, *more, "--program", kernels / "radix",
            "--argument", "4", "--argument", "600", "--json", "-",
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        (one,) = json.loads(done.stdout)["runs"]
        return {name: one[name] for name in ("cycles", "instructions", "accesses")}

    flask = results("flask")
    assert results("flask") == flask
    bus = results("mesi-snoop", "--set", "network.kind=bus")
    assert bus["cycles"] != flask["cycles"]
    # Threads that wait for others spin, as long as that takes.
    assert 0.3 < bus["instructions"] / flask["instructions"] < 3


def test_a_window_overlaps_what_cores_in_order_wait_for(kernels: Path) -> None:
    def one(model: str, *more: str) -> dict[str, Any]:
        done = run(
            "-p", "flask", *SMALL, "--set", f"hart.model={model}", *more, "--program",
            kernels / "fft", "--argument", "4", "--argument", "16", "--json", "-",
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert "fft, 4 threads, size 16: right" in done.stderr
        (run_of_it,) = json.loads(done.stdout)["runs"]
        return dict(run_of_it)

    window = one("window")
    assert window["cycles"] < one("in-order")["cycles"]
    assert one("window", "--check-values")["cycles"] == window["cycles"]
    # A window of one instruction overlaps little.
    assert one("window", "--set", "core.window=1")["cycles"] > 1.5 * window["cycles"]


def test_a_timeline_is_a_page_and_changes_nothing(kernels: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    words = ("-p", "flask", *SMALL, "--program", kernels / "radix", "--argument", "4",
             "--argument", "600", "--json", "-")  # fmt: skip
    done = run(*words, "--timeline", page)
    assert done.returncode == 0, done.stderr
    text = page.read_text()
    assert "radix, flask, 4 harts" in text
    assert "counts" in text  # the table that all threads read
    with_it, without = json.loads(done.stdout), json.loads(run(*words).stdout)
    assert with_it["runs"][0]["counts"] == without["runs"][0]["counts"]


def test_an_application_of_the_stamp_class_suite(tmp_path: Path) -> None:
    stamp = tmp_path / "stamp"
    subprocess.run(
        [
            "make", "-s", "-f", str(SOURCE / "workloads/stamp/Makefile"), f"WORK={stamp}",
            "TARGET=riscv64-linux-gnu", "VARIANTS=mutex-harts", "APPLICATIONS=labyrinth",
        ],
        check=True,
    )  # fmt: skip
    done = subprocess.run(
        [
            str(SOURCE / "workloads/harts/run"), str(MACHINE.parents[1]), str(tmp_path),
            "labyrinth", "-p", "sparse-directory", "--json", "-",
        ],
        capture_output=True, text=True, check=False, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert '"verified": true' in done.stderr
    (one,) = json.loads(done.stdout)["runs"]
    assert one["workload"] == "labyrinth"
    assert 0 < one["instructions"] <= 16 * one["cycles"]


def test_mistakes_are_told(kernels: Path, tmp_path: Path) -> None:
    source = tmp_path / "quiet.c"
    source.write_text("int main(void) { return 0; }\n")
    quiet = tmp_path / "quiet"
    subprocess.run(["riscv64-linux-gnu-gcc", "-static", "-o", str(quiet), str(source)], check=True)
    json_file = tmp_path / "out.json"
    for words, said in [
        (("--program", quiet), "nothing was measured"),
        (("--program", source), "quiet.c"),
        (("--program", tmp_path / "nothing"), "nothing"),
        (("--program", kernels / "fft", "--argument", "0"), "ended with status 2"),
        (("--program", quiet, "-w", "mixed"), "one of --workload"),
        (("-w", "mixed", "--whole"), "say --program FILE"),
        (("-w", "mixed", "--timeline", tmp_path / "page"), "say --program FILE"),
        (("--program", quiet, "--timeline", tmp_path / "page", "--seeds", "2"), "no --seeds"),
    ]:
        done = run("-p", "flask", *SMALL, *words, "--json", json_file)
        assert done.returncode == 2, done.stderr
        assert said in done.stderr.splitlines()[-1]
        assert not json_file.exists()
    assert run("-p", "flask", *SMALL, "--program", quiet, "--whole").returncode == 0
