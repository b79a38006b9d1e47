# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whole runs of a small experiment, through the command line."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import HERE, Harness

from tandem.experiment.sample import run_command
from tandem.formats import Result, read_result

POINTS = [("fast", 1), ("fast", 2), ("fast", 4), ("plain", 1)]


def by_point(result: Result) -> dict[tuple[object, object], object]:
    return {(x.at["variant"], x.at["threads"]): x for x in result.points}


def rounds_of(log: Path) -> dict[int, list[str]]:
    rounds: dict[int, list[str]] = {}
    for line in log.read_text().splitlines():
        number, _, point = line.partition(" ")
        rounds.setdefault(int(number), []).append(point)
    return rounds


def test_a_run_gives_what_its_program_said(tiny: Harness, tmp_path: Path) -> None:
    done = tiny()
    assert done.returncode == 0, done.stderr
    result = read_result(tmp_path / "tiny.json")
    points = {(x.at["variant"], x.at["threads"]): x for x in result.points}
    assert sorted(points) == POINTS
    for (variant, threads), point in points.items():
        speed = 1 if variant == "plain" else int(threads)
        # The program says 120 s per round begun, divided by its threads.
        assert [s.metrics["seconds"] for s in point.samples] == [120 * r / speed for r in (1, 2, 3)]
        assert point.summaries["seconds"].median == 240 / speed
        ratio = point.ratios["seconds"]  # paired by round: the drift cancels
        assert (ratio.value, ratio.minimum, ratio.maximum) == (speed, speed, speed)
        for sample in point.samples:
            assert sample.metrics["wall"] == pytest.approx(sample.wall_s * 1000)
            assert sample.metrics["cpu"] == sample.cpu_s
            assert sample.metrics["filed"] == 42
            assert sample.cpu_s > 0
    means = {x.at["variant"]: (x.n, x.value) for x in result.geometric_means}
    assert means == {"plain": (1, 1), "fast": (3, pytest.approx(2))}
    published = points["fast", 2].published[0]
    assert (published.value, published.ratio, published.place) == (150, 2, "Table 1")
    assert points["plain", 1].published[0].value == 300
    assert points["fast", 4].published == ()
    assert result.seed == 7
    assert result.configuration["parameters"] == {"work_units": 120}
    assert not list(tmp_path.glob("*.journal"))


def test_the_table_shows_medians_ratios_and_published_values(tiny: Harness) -> None:
    done = tiny()
    row = next(x for x in done.stdout.splitlines() if x.split()[:3] == ["fast", "one", "2"])
    cells = " ".join(row.split()[3:])
    # Samples as short as these are disturbed as far as can be told, or not: the machine decides.
    cells = re.sub(r" \d of 3", "", cells)
    assert cells == "120 60 – 180 90 – 150 2.00× 2.00 – 2.00 150 s 2.00×"
    assert "lines: 120 in all 12 samples" in done.stdout
    assert "shuffled by seed 7" in done.stderr


def test_rounds_are_interleaved_and_their_order_follows_from_the_seed(
    tiny: Harness, tmp_path: Path
) -> None:
    logs = []
    for index, number in enumerate((7, 7, 8)):
        log = tmp_path / f"log{index}"
        done = tiny("--seed", str(number), "--reps", "6", env={"TINY_LOG": str(log)})
        assert done.returncode == 0, done.stderr
        logs.append(rounds_of(log))
    for log_ in logs:
        assert sorted(log_) == [-1, 0, 1, 2, 3, 4, 5]
        assert all(sorted(x) == ["fast 1", "fast 2", "fast 4", "plain 1"] for x in log_.values())
    assert logs[0] == logs[1]
    assert logs[0] != logs[2]
    assert len({tuple(x) for x in logs[0].values()}) > 1


def test_a_failed_sample_names_the_point_and_the_run_continues_later(
    tiny: Harness, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    broken = {"TINY_FAIL": "1 fast 2", "TINY_LOG": str(log)}
    done = tiny(env=broken)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        "tandem experiment: variant=fast threads=2: python3: exit status 3: went wrong"
    )
    assert not (tmp_path / "tiny.json").exists()
    journal = tmp_path / "tiny.json.journal"
    taken = [json.loads(x) for x in journal.read_text().splitlines()][1:]
    assert 4 <= len(taken) < 8

    again = tiny()
    assert again.returncode == 2
    assert "--resume" in again.stderr
    assert len(again.stderr.splitlines()) == 1

    log.unlink()
    done = tiny("--resume", env={"TINY_LOG": str(log)})
    assert done.returncode == 0, done.stderr
    repeated = rounds_of(log)
    assert sum(len(x) for number, x in repeated.items() if number >= 0) == 12 - len(taken)
    result = read_result(tmp_path / "tiny.json")
    assert [len(x.samples) for x in result.points] == [3, 3, 3, 3]
    assert not journal.exists()


def test_a_journal_cut_in_its_last_line_is_continued(tiny: Harness, tmp_path: Path) -> None:
    assert tiny(env={"TINY_FAIL": "2 fast 2"}).returncode == 1
    journal = tmp_path / "tiny.json.journal"
    whole = journal.read_bytes()
    journal.write_bytes(whole[:-20])
    done = tiny("--resume")
    assert done.returncode == 0, done.stderr
    result = read_result(tmp_path / "tiny.json")
    assert [[s.round for s in x.samples] for x in result.points] == [[0, 1, 2]] * 4


@pytest.mark.parametrize(
    ("change", "what"), [(["--seed", "8"], "seed"), (["--set", "work_units=60"], "configuration")]
)
def test_a_journal_of_another_run_is_refused(
    tiny: Harness, tmp_path: Path, change: list[str], what: str
) -> None:
    assert tiny(env={"TINY_FAIL": "1 plain 1"}).returncode == 1
    before = (tmp_path / "tiny.json.journal").read_bytes()
    done = tiny("--resume", *change)
    assert done.returncode == 2
    assert f"the {what} is not the same any more" in done.stderr
    assert (tmp_path / "tiny.json.journal").read_bytes() == before
    assert tiny("--fresh", *change).returncode == 0


def test_a_changed_experiment_file_is_refused(harness: Harness, tmp_path: Path) -> None:
    file = tmp_path / "tiny.toml"
    file.write_text((HERE / "tiny.toml").read_text())
    common = ["--source", HERE.parent, "--published", HERE / "published.toml", "--no-plots"]
    run = ["run", file, *common, "--results", tmp_path]
    assert harness(*run, env={"TINY_FAIL": "1 plain 1"}).returncode == 1
    file.write_text(file.read_text() + "\n# changed\n")
    done = harness(*run, "--resume")
    assert done.returncode == 2
    assert "the experiment is not the same any more" in done.stderr


def test_a_damaged_journal_is_refused_with_its_line(tiny: Harness, tmp_path: Path) -> None:
    assert tiny(env={"TINY_FAIL": "1 plain 1"}).returncode == 1
    journal = tmp_path / "tiny.json.journal"
    lines = journal.read_text().splitlines()
    lines[2] = "garbage"
    journal.write_text("\n".join(lines) + "\n")
    done = tiny("--resume")
    assert done.returncode == 2
    assert f"{journal}:3: not a journal" in done.stderr


def test_values_that_must_be_equal_and_are_not_end_the_run(tiny: Harness, tmp_path: Path) -> None:
    done = tiny(env={"TINY_ODD": "fast 4"})
    assert done.returncode == 1
    message = done.stderr.splitlines()[-1]
    assert "metric 'lines' is" in message
    assert "it must be equal everywhere" in message
    assert "variant=fast threads=4" in message
    assert not (tmp_path / "tiny.json").exists()


def test_parameters_and_axes_can_be_restricted(tiny: Harness, tmp_path: Path) -> None:
    done = tiny("--set", "work_units=60", "--only", "threads=1,2", "--reps", "1")
    assert done.returncode == 0, done.stderr
    result = read_result(tmp_path / "tiny.json")
    assert len(result.points) == 3
    assert result.points[0].samples[0].metrics["seconds"] == 60
    assert result.configuration["axes"]["threads"] == [1, 2]


def test_json_to_standard_output_is_a_result(tiny: Harness, tmp_path: Path) -> None:
    done = tiny("--json", "-", "--reps", "1", "--no-progress")
    assert done.returncode == 0
    assert done.stderr == ""
    assert json.loads(done.stdout) == json.loads((tmp_path / "tiny.json").read_text())


def slow_experiment(tmp_path: Path) -> Path:
    """Every sample waits for a minute, with a child that does so too."""
    file = tmp_path / "slow.toml"
    file.write_text(
        "version = 1\ntitle = 'slow'\n[[axis]]\nname = 'n'\nvalues = [1]\n"
        "[run]\nwarm_ups = 0\n"
        "command = ['sh', '-c', 'sleep 61 & echo $! > {work}/child; echo $$ > {work}/started; "
        "wait']\n"
        "[[metric]]\nname = 'wall'\nsource = 'wall'\n"
    )
    return file


def gone(pid: int) -> bool:
    """Whether the process has ended (a zombie has)."""
    for _ in range(100):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.05)
    return False


def test_an_interrupt_while_the_command_starts_kills_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[int] = []
    start = subprocess.Popen

    class Interrupted(start):  # type: ignore[misc, valid-type]
        def __init__(self, *arguments: Any, **named: Any) -> None:
            super().__init__(*arguments, **named)
            started.append(self.pid)
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(subprocess, "Popen", Interrupted)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            run_command(["sleep", "61"], {}, 60, place="here")
    finally:
        signal.signal(signal.SIGINT, before)
    assert gone(*started)


def test_the_time_limit_kills_the_command_and_its_children(
    harness: Harness, tmp_path: Path
) -> None:
    work = tmp_path / "work"
    done = harness(
        "run", slow_experiment(tmp_path), "--timeout", "1", "--work", work, "--results", tmp_path
    )
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].endswith("n=1: sh: killed after its time limit of 1 s")
    assert gone(int((work / "child").read_text()))


@pytest.fixture(params=[signal.SIGINT, signal.SIGTERM])
def stop(request: pytest.FixtureRequest) -> signal.Signals:
    return signal.Signals(request.param)


def test_an_interrupt_leaves_a_journal_and_no_process(tmp_path: Path, stop: signal.Signals) -> None:
    work = tmp_path / "work"
    process = subprocess.Popen(
        [sys.executable, "-m", "tandem.experiment", "run", str(slow_experiment(tmp_path)),
         "--work", str(work), "--results", str(tmp_path)],
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ,
    )  # fmt: skip
    started = work / "started"
    while not (started.exists() and started.read_text()):
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(stop)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors.splitlines()[-1] == "tandem experiment: interrupted; continue with --resume"
    assert gone(int((work / "child").read_text()))
    head = json.loads((tmp_path / "slow.json.journal").read_text().splitlines()[0])
    assert head["journal"] == 1


def test_on_a_cluster_samples_are_the_same(tiny: Harness, tmp_path: Path) -> None:
    from distributed import LocalCluster

    with LocalCluster(  # type: ignore[no-untyped-call]
        n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None,
        host="127.0.0.1",
    ) as cluster:  # fmt: skip
        done = tiny("--scheduler", cluster.scheduler_address)
        assert done.returncode == 0, done.stderr
        result = read_result(tmp_path / "tiny.json")
        assert {len(x.samples) for x in result.points} == {3}
        assert result.configuration["scheduler"] == cluster.scheduler_address
        for point in result.points:
            speed = 1 if point.at["variant"] == "plain" else point.at["threads"]
            assert point.ratios["seconds"].value == speed
        failed = tiny("--scheduler", cluster.scheduler_address, "--set", "work_units=0")
    assert failed.returncode == 1
    assert "ratio's denominator is zero" in failed.stderr


@pytest.mark.parametrize("address", ["nonsense://x", "tcp://127.0.0.1:1", "tcp://127.0.0.1:99999"])
def test_a_scheduler_that_does_not_answer_is_the_users_mistake(tiny: Harness, address: str) -> None:
    done = tiny("--scheduler", address, "--no-progress")
    assert done.returncode == 2
    assert "no Dask scheduler answers" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_outcomes_are_values_of_points(harness: Harness, tmp_path: Path) -> None:
    """One point is refused, one does not end; both without numbers, and the run goes on."""
    text = (HERE / "tiny.toml").read_text(encoding="utf-8")
    allowed = text.replace("seed = 7\n", "seed = 7\noutcomes = true\ntimeout_s = 8\n")
    arguments: list[str | Path] = ["--source", HERE.parent, "--published", HERE / "published.toml"]
    arguments += ["--results", tmp_path, "--no-plots", "--reps", "1", "--warm-ups", "0"]
    environment = {"TINY_REFUSED": "fast 2", "TINY_ENDLESS": "fast 4"}
    (tmp_path / "with.toml").write_text(allowed, encoding="utf-8")
    done = harness("run", tmp_path / "with.toml", *arguments, env=environment)
    assert done.returncode == 0, done.stderr
    points = by_point(read_result(tmp_path / "with.json"))
    refused, endless, fine = points["fast", 2], points["fast", 4], points["fast", 1]
    assert (refused.outcome, refused.summaries) == ("refused: no such luck", {})  # type: ignore[attr-defined]
    assert endless.outcome.startswith("did not end: within 8 s")  # type: ignore[attr-defined]
    assert fine.outcome == ""  # type: ignore[attr-defined]
    assert fine.summaries  # type: ignore[attr-defined]
    assert re.search(r"fast one +2 +refused", done.stdout)
    assert re.search(r"fast one +4 +did not end", done.stdout)
    assert "no such luck" in done.stdout
    # Without `outcomes` each of the two ends the run.
    (tmp_path / "plain.toml").write_text(
        text.replace("seed = 7\n", "seed = 7\ntimeout_s = 8\n"), encoding="utf-8"
    )
    for name in environment:
        done = harness(
            "run", tmp_path / "plain.toml", *arguments, "--fresh", env={name: environment[name]}
        )
        assert done.returncode == 1
