# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command `tandem bench`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import ROWS, Suite

REPOSITORY = Path(__file__).parents[2]


def bench(suite: Suite, *words: str | Path, build: Path | None = None) -> tuple[int, str, str]:
    done = subprocess.run(
        [str((build or suite.build) / "libexec" / "tandem-bench"), *map(str, words)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def mistake(suite: Suite, *words: str | Path) -> str:
    status, output, error = bench(suite, *words)
    assert (status, output) == (2, "")
    assert error.startswith("tandem bench: ")
    assert error.count("\n") == 1
    return error.removeprefix("tandem bench: ").rstrip("\n")


def test_a_comparison(suite: Suite, tmp_path: Path) -> None:
    target = tmp_path / "result.json"
    status, output, error = bench(
        suite,
        *(
            "kmeans",
            "ssca2",
            "--variants",
            "mutex,libitm-ml_wt,cc-stm",
            "--threads",
            "1,2",
        ),
        *("--size", "test", "--reps", "2", "--warm-ups", "0", "--aborts"),
        *("--build-dir", suite.work, "--json", target),
    )
    assert status == 0, error
    result = json.loads(target.read_text(encoding="utf-8"))
    places = {
        (x["at"]["application"], x["at"]["variant"], x["at"]["threads"]) for x in result["points"]
    }
    rows = ("kmeans-high", "kmeans-low", "ssca2")
    expected = {
        (row, variant, threads)
        for row in rows
        for variant in ("mutex", "libitm-ml_wt", "cc-stm")
        for threads in (1, 2)
    }
    assert places == expected | {(row, "sequential", 1) for row in rows}
    assert all(len(x["samples"]) == 2 for x in result["points"])
    assert {x["over"] for x in result["geometric_means"]} == {"application"}
    for text in (
        "1 thread: time relative to sequential",
        "2 threads: time",
        "geometric mean",
    ):
        assert text in output
    assert "aborts per commit" in output
    assert (tmp_path / "result.svg").stat().st_size > 0
    assert (tmp_path / "result.png").stat().st_size > 0
    counted = json.loads((tmp_path / "result-aborts.json").read_text(encoding="utf-8"))
    for point in counted["points"]:
        metrics = point["samples"][0]["metrics"]
        assert metrics["attempts"] >= metrics["sections"] > 0
        if point["at"]["threads"] == 1:
            assert metrics["attempts"] == metrics["sections"]


def test_two_threads_only_keep_the_baseline(suite: Suite, tmp_path: Path) -> None:
    status, output, error = bench(
        suite,
        *(
            "ssca2",
            "--variants",
            "mutex",
            "--threads",
            "2",
            "--size",
            "test",
            "--reps",
            "1",
        ),
        *("--warm-ups", "0", "--no-plots", "--build-dir", suite.work, "--json", "-"),
    )
    assert status == 0, error
    assert "2 threads: time relative to sequential" in error
    assert "1 thread: " not in error
    points = [x["at"] for x in json.loads(output)["points"]]
    assert points == [
        {"application": "ssca2", "variant": "sequential", "threads": 1},
        {"application": "ssca2", "variant": "mutex", "threads": 2},
    ]


def test_a_baseline_with_threads_has_as_many(suite: Suite, tmp_path: Path) -> None:
    status, output, error = bench(
        suite,
        *(
            "ssca2",
            "--variants",
            "mutex,cc-stm",
            "--baseline",
            "mutex",
            "--threads",
            "2",
        ),
        *(
            "--size",
            "test",
            "--reps",
            "1",
            "--warm-ups",
            "0",
            "--build-dir",
            suite.work,
        ),
        *("--json", "-", "--plots", tmp_path),
    )
    assert status == 0, error
    assert "2 threads: time relative to mutex" in error
    points = {x["at"]["variant"]: x for x in json.loads(output)["points"]}
    assert {x["at"]["threads"] for x in points.values()} == {2}
    assert set(points) == {"mutex", "cc-stm"}
    seconds = {name: x["samples"][0]["metrics"]["seconds"] for name, x in points.items()}
    ratio = points["cc-stm"]["ratios"]["seconds"]["value"]
    assert ratio == pytest.approx(seconds["cc-stm"] / seconds["mutex"])


def test_on_the_machine(suite: Suite, tmp_path: Path) -> None:
    status, output, error = bench(
        suite,
        *("ssca2", "--variants", "cc-htm", "--baseline", "cc-htm", "--threads", "1,2"),
        *("--on", "machine:mesi-snoop", "--build-dir", suite.work, "--json", "-"),
        *("--plots", tmp_path),
    )
    assert status == 0, error
    assert "simulated time on mesi-snoop, harts as threads, size test" in error
    seconds = {
        x["at"]["threads"]: x["samples"][0]["metrics"]["seconds"]
        for x in json.loads(output)["points"]
    }
    assert set(seconds) == {1, 2}
    # Simulated, so that it does not depend on this machine.
    assert seconds[2] < 0.7 * seconds[1]


@pytest.mark.parametrize(
    "protocol",
    ["mesi-snoop", "token-b", "sparse-directory", "flask", "mosaic", "flask-plus"],
)
def test_micro_benchmarks_on_the_machine(suite: Suite, tmp_path: Path, protocol: str) -> None:
    status, output, error = bench(
        suite,
        *(
            "micro-hash-20",
            "--variants",
            "cc-htm",
            "--baseline",
            "cc-htm",
            "--threads",
            "1,8",
        ),
        *("--on", f"machine:{protocol}", "--build-dir", suite.work, "--json", "-"),
        "--no-plots",
    )
    assert status == 0, error
    metrics = {x["at"]["threads"]: x["samples"][0]["metrics"] for x in json.loads(output)["points"]}
    assert all(x["sections"] == 4000 for x in metrics.values())
    assert metrics[8]["seconds"] < 0.7 * metrics[1]["seconds"]
    # Of threads that have ended by then, each of which had a hart for most of the time.
    assert metrics[8]["cpu"] > 4 * metrics[8]["seconds"]


def test_micro_benchmarks_here(suite: Suite, tmp_path: Path) -> None:
    status, output, error = bench(
        suite,
        *("micro", "--variants", "mutex", "--baseline", "mutex", "--threads", "2"),
        *(
            "--size",
            "test",
            "--reps",
            "1",
            "--warm-ups",
            "0",
            "--build-dir",
            suite.work,
        ),
        *("--json", "-", "--no-plots"),
    )
    assert status == 0, error
    points = json.loads(output)["points"]
    assert len({x["at"]["application"] for x in points}) == 8
    assert all(x["samples"][0]["metrics"]["sections"] == 4000 for x in points)


def test_sections(suite: Suite, tmp_path: Path) -> None:
    words = ("--sections", "--size", "test", "--build-dir", suite.work)
    status, output, error = bench(suite, *words, "--json", "-")
    assert status == 0, error
    rows = json.loads(output)["rows"]
    assert [x["name"] for x in rows] == list(ROWS)
    for row in rows:
        measured = row["measured"]
        assert measured["sections"] > 0
        assert 0 < measured["share"] <= 1
        assert 0 < measured["read_mean"] <= measured["read_most"]
        assert 0 < measured["write_mean"] <= measured["write_most"]
    # What STAMP's authors call small sets is less than what they call large ones.
    largest = {
        kind: [x["measured"]["read_p90"] for x in rows if x["published"]["sets"] == kind]
        for kind in ("small", "large")
    }
    assert max(largest["small"]) < min(largest["large"])


def test_the_list(suite: Suite) -> None:
    status, output, error = bench(suite, "--list")
    assert (status, error) == (0, "")
    for name in (
        "sequential",
        "mutex",
        "libitm-gl_wt",
        "tandem-norec",
        "cc-locks",
        "cc-hybrid",
    ):
        assert any(line.startswith(name + " ") for line in output.splitlines())


def test_mistakes(suite: Suite, tmp_path: Path) -> None:
    assert mistake(suite, "genom").startswith("there is no application 'genom'; there are bayes, ")
    assert mistake(suite, "--variants", "fast").startswith("there is no variant 'fast'; there are ")
    assert mistake(suite, "--threads", "0").startswith("argument --threads: '0' is not a list of ")
    assert mistake(suite, "--resume", "--fresh") == (
        "--resume and --fresh exclude each other; give one"
    )
    assert mistake(suite, "--on", "machine:bus").startswith("argument --on: 'machine:bus' is not ")
    on = ("--on", "machine:flask")
    assert "leave it out" in mistake(suite, *on, "--variants", "libitm-gl_wt")
    assert "leave them out" in mistake(suite, *on, "--sections")
    assert "leave them out" in mistake(suite, "micro-counter", "--sections")
    assert "leave them out" in mistake(suite, "ssca2", "micro", "--aborts")
    assert mistake(suite, "--json", tmp_path) == f"--json {tmp_path}: is a directory; name a file"


def test_what_the_compiler_cannot_build_is_refused(suite: Suite, tmp_path: Path) -> None:
    (tmp_path / "libexec").mkdir()
    (tmp_path / "bin").mkdir()
    shutil.copy(
        Path(os.environ["TANDEM_BUILD"]) / "libexec" / "tandem-bench",
        tmp_path / "libexec",
    )
    compiler = tmp_path / "bin" / "tandem-cc"
    compiler.write_text("#!/bin/sh\necho 'tandem-cc: the installation is incomplete' >&2\nexit 2\n")
    compiler.chmod(0o755)
    words = (
        "ssca2",
        "--variants",
        "cc-locks",
        "--size",
        "test",
        "--build-dir",
        suite.work,
    )
    status, output, error = bench(suite, *words, build=tmp_path)
    assert (status, output) == (2, "")
    assert error == (
        "tandem bench: variant cc-locks is not available: the installation is incomplete; "
        "leave it out\n"
    )


@pytest.mark.parametrize("application", ["bayes", "genome", "kmeans", "labyrinth", "vacation"])
def test_the_analysis_of_the_papers_applications(suite: Suite, application: str) -> None:
    """LockSTM's Figure 7, by the reading that made non-revocable sections of STAMP."""
    script = REPOSITORY / "workloads" / "stamp" / "analyse.py"
    subprocess.run([script, "prepare", suite.build, suite.work, application], check=True)
    found = {}
    for catalogue in ("malloc-irrevocable", "built-in"):
        done = subprocess.run(
            [script, "measure", suite.build, suite.work, application, catalogue],
            capture_output=True,
            text=True,
            check=True,
        )
        found[catalogue] = json.loads(done.stdout)
    paper, ours = found["malloc-irrevocable"], found["built-in"]
    if application == "kmeans":  # as the paper has it
        assert [paper[x] for x in ("sections", "lockpick_colours", "pure")] == [3, 3, 3]
    elif application in ("labyrinth", "vacation"):  # likewise
        classes = [paper[x] for x in ("sections", "non_revocable", "hybrid", "pure")]
        assert classes == ([3, 2, 0, 1] if application == "labyrinth" else [3, 3, 0, 0])
    assert paper["non_revocable"] >= ours["non_revocable"]
    assert ours["sections"] == ours["non_revocable"] + ours["hybrid"] + ours["pure"]
