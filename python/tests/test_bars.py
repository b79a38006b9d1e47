# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The bars of bench/bars.toml, and how bench/run judges them: on results whose verdict is known."""

from __future__ import annotations

import importlib.util
import json
import tomllib
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

BENCH = Path(__file__).resolve().parents[2] / "bench"
BARS: list[dict[str, Any]] = tomllib.loads((BENCH / "bars.toml").read_text())["bar"]
KEYS = ("value", "minimum", "maximum")


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    """bench/run, which has no ending, as a module."""
    loader = SourceFileLoader("bench_run", str(BENCH / "run"))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def point(benchmark: str, runtime: str, value: float) -> dict[str, Any]:
    """A time of `value` ns, from half to twice as much, and of that ratio to the peer."""
    numbers = (value, value / 2, value * 2)
    return {
        "at": {"benchmark": benchmark, "runtime": runtime},
        "ratios": {"time": dict(zip(KEYS, numbers, strict=True))},
        "summaries": {"time": dict(zip(("median", *KEYS[1:]), numbers, strict=True))},
    }


def judge(bench: ModuleType, folder: Path, bar: dict[str, Any]) -> dict[str, Any]:
    values = {"tree": 0.25, "list": 1.0, "large": 32.0}
    points = [point(name, "ours", value) for name, value in values.items()]
    points += [point(name, "theirs", 1.0) for name in values]
    (folder / "some.json").write_text(json.dumps({"points": points}))
    judged: dict[str, Any] = bench.judge({"result": "some", "metric": "time", **bar}, folder)
    return judged


@pytest.mark.parametrize(
    ("without", "mean"), [(None, 2.0), (["large"], 0.5), (["large", "tree"], 1.0)]
)
def test_geometric_mean(
    bench: ModuleType, tmp_path: Path, without: list[str] | None, mean: float
) -> None:
    """Of one runtime's points, but for those that do not count."""
    bar: dict[str, Any] = {"mean_over": "benchmark", "at": {"runtime": "ours"}, "at_most": mean}
    if without is not None:
        bar["without"] = without
    judged = judge(bench, tmp_path, bar)
    assert [judged["measured"][key] for key in KEYS] == pytest.approx([mean, mean / 2, mean * 2])
    assert judge(bench, tmp_path, {**bar, "at_most": mean * 1.01})["met"]
    assert not judge(bench, tmp_path, {**bar, "at_most": mean * 0.99})["met"]


def test_a_ratio_and_a_figure_with_a_unit(bench: ModuleType, tmp_path: Path) -> None:
    bar = {"at": {"benchmark": "tree", "runtime": "ours"}, "at_most": 0.25}
    for kind in ({"peer": "theirs"}, {"unit": "ns"}):
        judged = judge(bench, tmp_path, {**bar, **kind})
        assert judged["measured"] == {"value": 0.25, "minimum": 0.125, "maximum": 0.5}
        assert judged["met"]
        assert not judge(bench, tmp_path, {**bar, **kind, "at_most": 0.24})["met"]


@pytest.mark.parametrize(
    "bar",
    [
        {"at": {"benchmark": "hash", "runtime": "ours"}},
        {"at": {"runtime": "nobody's"}, "mean_over": "benchmark"},
    ],
)
def test_a_result_that_is_older_than_the_bar(
    bench: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str], bar: dict[str, Any]
) -> None:
    assert judge(bench, tmp_path, {**bar, "at_most": 1.0}) is None
    assert "measure it again" in capsys.readouterr().err


@pytest.mark.parametrize("bar", BARS, ids=[f"{x['result']}-{x['claim']}" for x in BARS])
def test_bars_name_what_their_bench_measures(bar: dict[str, Any]) -> None:
    """Else one learns of a slip of the pen when the bench has run."""
    [path] = BENCH.glob(f"*/{bar['result']}.toml")
    experiment = tomllib.loads(path.read_text())
    metrics = {metric["name"]: metric for metric in experiment["metric"]}
    axes = {axis["name"]: axis["values"] for axis in experiment["axis"]}
    assert bar["metric"] in metrics
    assert ("peer" in bar) != ("unit" in bar)
    for axis, value in bar["at"].items():
        assert value in axes[axis]
    if "exponent_over" in bar:
        assert bar["exponent_over"] in metrics
        return
    over = {bar["mean_over"]} if "mean_over" in bar else set()
    assert axes.keys() - bar["at"].keys() == over
    for axis in over:
        assert set(bar.get("without", [])) <= set(axes[axis])
    if "peer" in bar:
        assert "ratio" in metrics[bar["metric"]]
        assert "baseline" in experiment


@pytest.mark.parametrize(("result", "left_out"), [("transactions", set()), ("hardware", {"large"})])
def test_means_are_over_the_eight(result: str, left_out: set[str]) -> None:
    [path] = BENCH.glob(f"*/{result}.toml")
    axes = {axis["name"]: axis["values"] for axis in tomllib.loads(path.read_text())["axis"]}
    means = [bar for bar in BARS if bar["result"] == result and "mean_over" in bar]
    assert means
    for bar in means:
        assert set(bar.get("without", [])) == left_out
        assert len(set(axes["benchmark"]) - left_out) == 8
