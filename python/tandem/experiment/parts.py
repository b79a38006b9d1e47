# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What an experiment consists of, as immutable data (docs/formats/experiment.md)."""

from __future__ import annotations

import itertools
import json
import re
import string
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tandem.errors import UserError
from tandem.experiment.expressions import Expression, parse_expression
from tandem.formats.published import Scalar

__all__ = [
    "PLOT_KINDS",
    "At",
    "Axis",
    "Baseline",
    "Build",
    "Expect",
    "Experiment",
    "GeometricMean",
    "Group",
    "Metric",
    "Plot",
    "PublishedUse",
    "Quick",
    "Run",
    "describe",
    "expand",
    "key_of",
    "parse_scalar",
    "placeholders",
    "plot_paths",
    "points_of",
    "same",
    "shown",
]

At = Mapping[str, Scalar]  # a point: one value of each axis, in the order of the axes

_TIME_UNITS = frozenset({"s", "ms", "us", "ns", "ops/s", "1/s", "k/s"})


@dataclass(frozen=True, slots=True)
class Axis:
    """A parameter with the list of its values."""

    name: str
    values: tuple[Scalar, ...]
    label: str = ""  # for tables and plots; empty: the name
    labels: Mapping[str, str] | None = None  # of single values, by the value as text

    @property
    def title(self) -> str:
        return self.label or self.name

    def label_of(self, value: Scalar) -> str:
        return (self.labels or {}).get(shown(value), shown(value))


@dataclass(frozen=True, slots=True)
class Build:
    """Commands that run once, in order, before the first sample."""

    commands: tuple[tuple[str, ...], ...] = ()
    timeout_s: float = 1800  # of each command


@dataclass(frozen=True, slots=True)
class Run:
    """The command of a sample, and how often it runs."""

    command: tuple[str, ...]
    environment: Mapping[str, str] | None = None  # added to the harness's own
    timeout_s: float = 600
    repetitions: int = 5  # rounds that are measured
    warm_ups: int = 1  # rounds before them that are not
    seed: int = 1  # of the order within each round
    side_by_side: bool = False  # samples may run at the same time: no metric depends on the load
    estimate_s: float = 0  # processor time of one sample, about; 0: not said
    # A sample that meets its time limit, or says an `outcome` in its JSON on standard output, has
    # no numbers, and the run goes on.
    outcomes: bool = False


@dataclass(frozen=True, slots=True)
class Metric:
    """A number read from every sample."""

    name: str
    source: str  # wall (s), cpu (s: user and system of the command and its children), json, regex
    label: str = ""
    origin: str = "stdout"  # `from`: stdout, stderr, or a file's path with placeholders
    pointer: str = ""  # json: RFC 6901
    pattern: str = ""  # regex: Python's, multi-line, one group; the last match counts
    unit: str = ""
    scale: float = 1  # the number read is multiplied by it
    ratio: str = "none"  # none, relative (point / baseline), speedup (baseline / point)
    expect_equal: bool = False  # in all samples of all points
    interval: str = ""  # the metric that is half the width of its confidence interval
    optional: bool = False  # json: points whose output does not have it have no such number
    depends_on_load: bool | None = None  # of the machine; None: as its source and unit say

    @property
    def title(self) -> str:
        return self.label or self.name

    @property
    def is_time(self) -> bool:
        """Whether what else the machine does changes it."""
        if self.depends_on_load is not None:
            return self.depends_on_load
        return self.source == "wall" or (self.source != "cpu" and self.unit in _TIME_UNITS)

    @property
    def is_processor_time(self) -> bool:
        """Whether nothing but the speed of the processors changes it."""
        return self.source == "cpu" and not self.is_time


@dataclass(frozen=True, slots=True)
class Baseline:
    """The point that ratios are relative to; axes that `at` does not name are the point's own."""

    at: Mapping[str, Scalar]
    pairing: str = "round"  # round: median of the ratios within rounds; medians: ratio of medians


@dataclass(frozen=True, slots=True)
class GeometricMean:
    """The geometric mean of a metric's ratios over all values of one axis."""

    metric: str
    over: str


@dataclass(frozen=True, slots=True)
class Group:
    """Values of an axis that belong together: geometric means and plots have one of each group."""

    axis: str
    name: str
    values: tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class PublishedUse:
    """Where the published value of a point stands: a table of published.toml and its column."""

    table: str
    column: str
    metric: str
    where: Mapping[str, Scalar]  # keys of the table that no axis gives
    keys: Mapping[str, str]  # table key -> axis, where the names differ
    values: Mapping[str, Mapping[str, Scalar]]  # axis -> value as text -> the table's value
    at: Mapping[str, tuple[Scalar, ...]]  # axis -> the values beside which it stands; empty: all


@dataclass(frozen=True, slots=True)
class Expect:
    """What should come out: a comparison that is evaluated after the run, and its sentence."""

    name: str
    check: str = ""  # docs/formats/experiment.md, "Checks"; empty: it cannot be checked
    statement: str = ""  # id in published.toml
    known: str = "met"  # met, differs: what the project has recorded
    known_quick: str = ""  # the same of a quick run, where that is another
    why: str = ""  # why it differs or cannot be checked

    @property
    def expression(self) -> Expression | None:
        return parse_expression(self.check) if self.check else None


@dataclass(frozen=True, slots=True)
class Quick:
    """What a short run changes."""

    parameters: Mapping[str, Scalar]
    only: Mapping[str, tuple[Scalar, ...]]
    repetitions: int | None = None
    warm_ups: int | None = None
    estimate_s: float = 0  # as Run's
    counts: bool = True  # whether `paper --quick --counts` has it


@dataclass(frozen=True, slots=True)
class Plot:
    """One picture: a line chart or grouped bars."""

    name: str
    kind: str  # line, bar
    metric: str
    x: str  # axis
    series: str = ""  # axis; empty: one series
    facet: str = ""  # axis; one panel for each of its values
    y: str = "value"  # value, ratio
    reference: str = "none"  # one: a line at 1; linear: a line y = x
    title: str = ""
    scale: str = "linear"  # of y: linear, log
    only: Mapping[str, tuple[Scalar, ...]] | None = None  # axis -> the values that are drawn
    width: str = ""  # of a paper's column: single, double
    means: bool = True  # of ratios over an axis with groups: bars of each group and of all


@dataclass(frozen=True, slots=True)
class Experiment:
    """A whole experiment file."""

    file: str  # as the user named it
    name: str
    sha256: str  # of the file's text
    document: Mapping[str, Any]  # the file's content as plain data
    title: str
    paper: str
    description: str
    statements: tuple[str, ...]
    parameters: Mapping[str, Scalar]
    build: Build
    axes: tuple[Axis, ...]
    exclude: tuple[Mapping[str, tuple[Scalar, ...]], ...]
    run: Run
    metrics: tuple[Metric, ...]
    baseline: Baseline | None
    geometric_means: tuple[GeometricMean, ...]
    published: tuple[PublishedUse, ...]
    plots: tuple[Plot, ...]
    groups: tuple[Group, ...]
    expects: tuple[Expect, ...]
    quick: Quick | None

    def axis(self, name: str) -> Axis:
        return next(x for x in self.axes if x.name == name)

    def metric(self, name: str) -> Metric:
        return next(x for x in self.metrics if x.name == name)

    def baseline_of(self, at: At) -> dict[str, Scalar] | None:
        """The baseline of a point; None where the experiment has none."""
        return None if self.baseline is None else {**at, **self.baseline.at}


def shown(value: Scalar) -> str:
    """A value as it stands in commands, tables and label maps."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def key_of(at: At) -> str:
    """A point as a dictionary key."""
    return json.dumps({name: at[name] for name in sorted(at)}, ensure_ascii=False)


def describe(at: At) -> str:
    """A point for people: `variant=stm threads=2`."""
    return " ".join(f"{name}={shown(value)}" for name, value in at.items())


def same(left: Scalar, right: Scalar) -> bool:
    return left == right and isinstance(left, bool) == isinstance(right, bool)


PLOT_KINDS = ("svg", "png", "pdf")


def plot_paths(experiment: Experiment, directory: Path) -> list[Path]:
    """Where the plots go, in the order of the definition, each in all PLOT_KINDS."""
    return [
        directory / f"{experiment.name}-{plot.name}.{kind}"
        for plot in experiment.plots
        for kind in PLOT_KINDS
    ]


def points_of(
    experiment: Experiment, only: Mapping[str, Sequence[Scalar]] | None = None
) -> list[dict[str, Scalar]]:
    """All points in the order of the axes, without the excluded ones; `only` restricts axes."""
    chosen = [(only or {}).get(axis.name, axis.values) for axis in experiment.axes]
    names = [axis.name for axis in experiment.axes]
    every = (dict(zip(names, values, strict=True)) for values in itertools.product(*chosen))
    return [at for at in every if not any(_matches(at, rule) for rule in experiment.exclude)]


def _matches(at: At, rule: Mapping[str, tuple[Scalar, ...]]) -> bool:
    return all(any(same(at[name], x) for x in values) for name, values in rule.items())


def expand(template: str, values: Mapping[str, Scalar]) -> str:
    """The template with {name} replaced; {{ and }} are braces. KeyError for an unknown name."""
    return "".join(
        literal + ("" if field is None else shown(values[field]))
        for literal, field, _, _ in string.Formatter().parse(template)
    )


def placeholders(template: str) -> Iterator[str]:
    for _, field, spec, conversion in string.Formatter().parse(template):
        if field is None:
            continue
        if spec or conversion or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_-]*", field):
            raise ValueError(f"'{{{field}}}' is not a placeholder")
        yield field


def parse_scalar(text: str, like: Scalar, place: str) -> Scalar:
    """A value given as text on the command line, of the type of `like`."""
    try:
        if isinstance(like, bool):
            return {"true": True, "false": False}[text]
        if isinstance(like, int):
            return int(text)
        if isinstance(like, float):
            return float(text)
    except (KeyError, ValueError) as error:
        raise UserError(f"{place}: '{text}' is not a {type(like).__name__}") from error
    return text
