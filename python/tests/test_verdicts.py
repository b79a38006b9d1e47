# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks of experiments: what they may say, and that noise cannot decide one."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import HERE, Harness

from tandem.errors import FormatError
from tandem.experiment import load
from tandem.experiment.analyse import make_points
from tandem.experiment.definition import from_document
from tandem.experiment.expressions import ExpressionError, parse_expression
from tandem.experiment.load import Load, Watch, disturbance, parse_stat
from tandem.experiment.parts import Experiment, key_of, points_of
from tandem.experiment.sample import Measured
from tandem.experiment.verdicts import verdicts_of
from tandem.formats import Point, read_result
from tandem.formats.documents import parse_toml
from tandem.formats.published import read_published

TINY = (HERE / "tiny.toml").read_text(encoding="utf-8")
CHECK = 'ratio("seconds", variant="fast", threads=2) > 1.5'


def with_checks(*checks: str, extra: str = "") -> Experiment:
    text = TINY + extra
    for number, check in enumerate(checks):
        text += f"\n[[expect]]\nname = 'check {number}'\ncheck = '''{check}'''\n"
    published = read_published(HERE / "published.toml")
    return from_document(
        parse_toml(text, "x"), file="x", name="tiny", text=text, published=published
    )


def points(
    experiment: Experiment, seconds: Sequence[float], disturbed: Sequence[str] = ("", "", "")
) -> tuple[Point, ...]:
    """The fast variant with 2 threads takes `seconds` by round; all others 100 s, undisturbed."""
    samples: dict[str, list[Measured]] = {}
    for at in points_of(experiment):
        watched = at["variant"] == "fast" and at["threads"] == 2
        samples[key_of(at)] = [
            Measured(
                key_of(at),
                number,
                0,
                "here",
                100,
                100,
                {
                    "seconds": seconds[number] if watched else 100,
                    "wall": 1,
                    "cpu": 1,
                    "filed": 42,
                    "lines": 120,
                },
                0,
                0,
                disturbed[number] if watched else "",
            )
            for number in range(len(seconds))
        ]
    published = read_published(HERE / "published.toml")
    return make_points(experiment, points_of(experiment), samples, published)


def state(
    seconds: Sequence[float], disturbed: Sequence[str] = ("", "", ""), check: str = CHECK
) -> tuple[str, str]:
    experiment = with_checks(check)
    (verdict,) = verdicts_of(experiment, points(experiment, seconds, disturbed), 2)
    return verdict.state, verdict.why


def test_calm_rounds_decide() -> None:
    assert state([50, 50, 50]) == ("met", "")
    assert state([90, 90, 90]) == ("differs", "")


def test_disturbed_samples_do_not_decide_whatever_they_say() -> None:
    for seconds in ([50, 50, 50], [90, 90, 90]):
        found, why = state(seconds, ["", "others ran", ""])
        assert found == "undecided"
        assert why == "1 of 3 samples of variant=fast threads=2 are disturbed"


def test_a_verdict_is_of_the_undisturbed_samples_alone() -> None:
    # Five of seven are disturbed the way that would fake it; the three others say the opposite.
    noisy = ["others ran"] * 4 + [""] * 3
    assert state([50, 50, 50, 50, 95, 95, 95], noisy)[0] == "differs"
    assert state([95, 95, 95, 95, 50, 50, 50], noisy)[0] == "met"


def test_rounds_that_disagree_leave_it_undecided() -> None:
    found, why = state([50, 50, 90, 90, 50], [""] * 5)
    assert found == "undecided"
    assert why == "of 5 undisturbed rounds 3 say so by themselves"


def test_the_disturbed_baseline_counts_too() -> None:
    experiment = with_checks(CHECK)
    made = list(points(experiment, [50, 50, 50]))
    base = next(x for x in made if x.at["variant"] == "plain")
    object.__setattr__(base.samples[0], "disturbed", "others ran")
    (verdict,) = verdicts_of(experiment, made, 2)
    assert verdict.state == "undecided"
    assert "variant=plain threads=1" in verdict.why


def test_counts_are_decided_on_a_busy_machine() -> None:
    busy = ["others ran"] * 3
    assert state([50, 50, 50], busy, 'value("filed", variant="fast", threads=2) == 42')[0] == "met"
    assert state([50, 50, 50], busy, 'max(values("filed")) < 42')[0] == "differs"


def test_all_there_is_in_the_language() -> None:
    text = (
        'gm(ratios("seconds", variant="fast", threads=[1, 2])) > 1.4 and not '
        '(abs(-value("filed", variant="plain")) != 42 or len(values("filed")) < processors) and '
        'sum(values("filed") / values("filed")) == 4 and min(values("filed")) <= mean([1])'
    )
    with pytest.raises(ExpressionError, match=r"not allowed here: \[1\]"):
        parse_expression(text)
    assert state([50, 50, 50], check=text.rpartition(" and ")[0])[0] == "met"


@pytest.mark.parametrize(
    ("check", "message"),
    [
        ("value('filed', variant='plain')", "compares nothing"),
        ("__import__('os') == 1", "no such function"),
        ("().__class__ == 1", "not allowed here"),
        ("2 ** 9 > 1", "not allowed here"),
        ("value('nothing') > 1", "unknown metric 'nothing'"),
        ("ratio('cpu') > 1", "metric 'cpu' has no ratio"),
        ("value('cpu', threads=3) > 1", "axis 'threads' has no value 3"),
        ("value('cpu', cores=3) > 1", "unknown axis 'cores'"),
        ("value('cpu' > 1", "is no expression"),
        ("(" * 2000 + "1" + ")" * 2000 + " > 0", "is no expression"),
    ],
)
def test_what_it_refuses_before_anything_runs(check: str, message: str) -> None:
    with pytest.raises(FormatError, match=message.replace("(", r"\(")):
        with_checks(check)


def test_what_cannot_be_computed_is_undecided() -> None:
    assert state([50, 50, 50], check='values("filed") > 1')[1].startswith("a list is compared")
    assert state([50, 50, 50], check='1 / (value("filed", threads=4) - 42) > 1') == (
        "undecided",
        "a division by zero",
    )


def test_a_check_that_is_missing_or_known_to_differ_says_why() -> None:
    for extra, message in (
        ("[[expect]]\nname='x'\n", "has no check; say why"),
        ("[[expect]]\nname='x'\ncheck='1 < 2'\nknown='differs'\n", "known to differ; say why"),
        ("[[expect]]\nname='x'\ncheck='1 < 2'\nstatement='no.such'\n", "unknown statement"),
    ):
        with pytest.raises(FormatError, match=message):
            with_checks(extra="\n" + extra)
    experiment = with_checks(extra="\n[[expect]]\nname='x'\nwhy='no such machine'\n")
    (verdict,) = verdicts_of(experiment, points(experiment, [1, 1, 1]), 2)
    assert (verdict.state, verdict.why) == ("not checked", "no such machine")


def test_samples_that_run_side_by_side_must_have_no_times() -> None:
    text = TINY.replace("seed = 7", "seed = 7\nside_by_side = true")
    with pytest.raises(FormatError, match="metric 'seconds' depends on the load"):
        from_document(parse_toml(text, "x"), file="x", name="tiny", text=text)


# ------------------------------------------------------------------------------ load

STAT = "cpu  1 1 1 1 1 1 1 1 0 0\ncpu0 {} 0 0 9 9 0 0 {} 0 0\ncpu1 5 5 5 9 9 5 5 7 0 0\nintr 1\n"


def test_processor_time_of_the_processors_that_may_be_used() -> None:
    ticks = os.sysconf("SC_CLK_TCK")
    assert parse_stat(STAT.format(50, 3), frozenset({0})) == (50 / ticks, 3 / ticks)
    assert parse_stat(STAT.format(50, 3), frozenset({0, 1})) == (75 / ticks, 10 / ticks)
    with pytest.raises(ValueError, match="1 of 2"):
        parse_stat(STAT.format(50, 3), frozenset({0, 7}))


def test_what_others_took_is_what_the_command_did_not() -> None:
    lines = "".join(f"cpu{n} {{0}} 0 0 0 0 0 0 {{1}} 0 0\n" for n in os.sched_getaffinity(0))
    count = len(os.sched_getaffinity(0))
    ticks = os.sysconf("SC_CLK_TCK")
    texts = itertools.chain([lines.format(0, 0)], itertools.repeat(lines.format(ticks, ticks // 4)))
    load = Watch(lambda: next(texts)).load(0.4 * count)
    assert load is not None
    assert load.others_cpu_s == pytest.approx(0.6 * count)
    assert load.stolen_s == pytest.approx(ticks // 4 / ticks * count)
    assert Watch(lambda: "nothing").load(1) is None


def test_when_a_sample_is_disturbed() -> None:
    assert disturbance(Load(0.05, 0.05), 2.0) == ""
    assert disturbance(Load(0.2, 0), 2.0) == "others ran for 0.20 s of 2.00 s"
    assert disturbance(Load(0, 0.2), 2.0) == "time was stolen for 0.20 s of 2.00 s"
    assert "cannot be told" in disturbance(Load(0, 0), 0.1)
    assert "does not say" in disturbance(None, 2.0)


def on_processors(experiment: Experiment, cpu: Sequence[float], slow: Sequence[float]) -> str:
    """The verdict, where the fast variant with 2 threads took `cpu` by round, by processors as
    many times as slow as at their best."""
    made = []
    for point in points(experiment, [1] * len(cpu), [""] * len(cpu)):
        watched = point.at["variant"] == "fast" and point.at["threads"] == 2
        samples = tuple(
            replace(
                s,
                metrics={**s.metrics, "cpu": cpu[s.round] if watched else 10},
                probe_one_s=0.01,
                probe_all_s=0.01 * (slow[s.round] if watched else 1),
            )
            for s in point.samples
        )
        made.append(replace(point, samples=samples))
    (verdict,) = verdicts_of(experiment, made, 2)
    return verdict.state if not verdict.why else f"{verdict.state}: {verdict.why}"


def test_processor_time_of_slowed_processors_decides_nothing() -> None:
    experiment = with_checks('value("cpu", variant="fast", threads=2) <= 10')
    assert on_processors(experiment, [9, 9, 9], [1, 1.1, 1]) == "met"
    assert on_processors(experiment, [11, 11, 11], [1, 1.1, 1]) == "differs"
    assert on_processors(experiment, [20, 20, 9], [2, 2, 1]) == (
        "undecided: 2 of 3 samples of variant=fast threads=2 were taken on slowed processors"
    )
    assert on_processors(experiment, [9, 9, 9, 20], [1, 1, 1, 2]) == "met"
    assert on_processors(experiment, [9, 11, 9], [1, 1, 1]) == (
        "undecided: of 3 undisturbed rounds 2 say so by themselves"
    )


def test_a_probe_is_one_thread_and_one_on_every_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[int] = []

    def thread_time(number: int) -> float:
        taken.append(threading.get_ident())
        return 1.0 + len(taken)

    monkeypatch.setattr(load, "_thread_time", thread_time)
    count = len(os.sched_getaffinity(0))
    assert load.probe() == load.Speed(2.0, 2.0 + count)
    assert taken[0] == threading.get_ident()
    assert len(taken) == 1 + count
    assert threading.get_ident() not in taken[1:]


SLOW = """
[[expect]]
name = "faster"
check = 'value("wall", variant="fast", threads=4) < 1e9'

[[expect]]
name = "known"
check = 'value("filed", variant="fast", threads=4) < 1'
known = "differs"
why = "it is made up"

[[expect]]
name = "count"
check = 'max(values("lines")) == {lines}'
"""


def slow(tmp_path: Path, lines: int) -> Path:
    """An experiment whose samples last long enough to be told disturbed."""
    program = (HERE / "tiny_program.py").read_text(encoding="utf-8")
    (tmp_path / "slow.py").write_text(f"import time\ntime.sleep(0.3)\n{program}", encoding="utf-8")
    text = TINY.replace("{source}/tests/tiny_program.py", str(tmp_path / "slow.py"))
    path = tmp_path / "slow.toml"
    path.write_text(text + SLOW.replace("{lines}", str(lines)), encoding="utf-8")
    return path


def run_slow(harness: Harness, tmp_path: Path, lines: int) -> subprocess.CompletedProcess[str]:
    path = slow(tmp_path, lines)
    published = HERE / "published.toml"
    return harness("run", path, "--published", published, "--results", tmp_path)


def test_a_busy_machine_is_said_everywhere(harness: Harness, tmp_path: Path) -> None:
    burn = [sys.executable, "-c", "while True: pass"]
    burners = [subprocess.Popen(burn) for _ in os.sched_getaffinity(0)]
    try:
        done = run_slow(harness, tmp_path, 120)
    finally:
        for burner in burners:
            burner.kill()
            burner.wait()
    assert done.returncode == 0, done.stderr
    result = read_result(tmp_path / "slow.json")
    assert all(s.disturbed for x in result.points for s in x.samples)
    assert [x.state for x in result.verdicts] == ["undecided", "differs", "met"]
    assert "12 of 12 samples disturbed" in " ".join(done.stdout.split())
    assert "undecided  faster" in done.stdout
    assert json.loads((tmp_path / "slow.json").read_text())["verdicts"][0]["state"] == "undecided"
    assert "samples disturbed" in (tmp_path / "slow-time.svg").read_text(encoding="utf-8")


def test_a_check_that_should_be_met_decides_the_status(harness: Harness, tmp_path: Path) -> None:
    done = run_slow(harness, tmp_path, 121)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].endswith("a check that should be met differs: slow: count")
    assert (tmp_path / "slow.json").exists()
