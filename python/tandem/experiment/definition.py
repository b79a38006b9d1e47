# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The experiment as data: what docs/formats/experiment.md describes, read from TOML and checked.

Immutable; errors are FormatError with the file and, where it can be found, the line.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
import string
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tandem.errors import FormatError, UserError
from tandem.experiment.expressions import Expression, ExpressionError, parse_expression
from tandem.formats.documents import check, find_line, parse_toml, read_text
from tandem.formats.published import Published, Scalar

__all__ = [
    "PLOT_KINDS",
    "At",
    "Axis",
    "Baseline",
    "Build",
    "Expect",
    "Experiment",
    "GeometricMean",
    "Metric",
    "Plot",
    "PublishedUse",
    "Quick",
    "Run",
    "describe",
    "expand",
    "from_document",
    "key_of",
    "parse_scalar",
    "plot_paths",
    "points_of",
    "read_experiment",
    "shown",
]

At = Mapping[str, Scalar]  # a point: one value of each axis, in the order of the axes

_RESERVED = ("build", "output", "round", "source", "work")
_TIME_UNITS = frozenset({"s", "ms", "us", "ns", "ops/s", "1/s", "k/s"})
_BUILD_FIELDS = frozenset({"build", "source", "work"})


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


def _same(left: Scalar, right: Scalar) -> bool:
    return left == right and isinstance(left, bool) == isinstance(right, bool)


PLOT_KINDS = ("svg", "png")


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
    return all(any(_same(at[name], x) for x in values) for name, values in rule.items())


def expand(template: str, values: Mapping[str, Scalar]) -> str:
    """The template with {name} replaced; {{ and }} are braces. KeyError for an unknown name."""
    return "".join(
        literal + ("" if field is None else shown(values[field]))
        for literal, field, _, _ in string.Formatter().parse(template)
    )


def _placeholders(template: str) -> Iterator[str]:
    for _, field, spec, conversion in string.Formatter().parse(template):
        if field is None:
            continue
        if spec or conversion or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_-]*", field):
            raise ValueError(f"'{{{field}}}' is not a placeholder")
        yield field


def read_experiment(path: Path, published: Published) -> Experiment:
    """Reads and checks a file; every name it uses is resolved here, before anything runs."""
    text = read_text(path)
    document = parse_toml(text, str(path))
    return from_document(document, file=str(path), name=path.stem, text=text, published=published)


def from_document(
    document: Mapping[str, Any],
    *,
    file: str,
    name: str,
    text: str | None = None,
    published: Published | None = None,
    sha256: str | None = None,
) -> Experiment:
    """The experiment in a document of the format; with `published`, references are resolved too."""
    check(document, "experiment", file, text)
    experiment = Experiment(
        file=file,
        name=document.get("name", name),
        sha256=sha256 or hashlib.sha256((text or "").encode()).hexdigest(),
        document=document,
        title=document["title"],
        paper=document.get("paper", ""),
        description=document.get("description", ""),
        statements=tuple(document.get("statements", ())),
        parameters=dict(document.get("parameters", {})),
        build=Build(**_with_tuples(document.get("build", {}))),
        axes=tuple(Axis(**_with_tuples(x)) for x in document["axis"]),
        exclude=tuple(
            {name: tuple(values) for name, values in rule.items()}
            for rule in document.get("exclude", ())
        ),
        run=Run(**_with_tuples(document["run"])),
        metrics=tuple(
            Metric(**{"origin" if k == "from" else k: v for k, v in x.items()})
            for x in document["metric"]
        ),
        baseline=Baseline(**document["baseline"]) if "baseline" in document else None,
        geometric_means=tuple(GeometricMean(**x) for x in document.get("geometric_mean", ())),
        published=tuple(
            PublishedUse(
                **{"where": {}, "keys": {}, "values": {}, **x, "at": _tuples(x.get("at", {}))}
            )
            for x in document.get("published", ())
        ),
        plots=tuple(Plot(**x) for x in document.get("plot", ())),
        expects=tuple(Expect(**x) for x in document.get("expect", ())),
        quick=_quick(document.get("quick")),
    )

    def refuse(where: Sequence[str | int], message: str) -> FormatError:
        line = None if text is None else find_line(text, where)
        return FormatError(f"{file}{'' if line is None else f':{line}'}: {message}")

    _Checker(experiment, refuse).check(published)
    return experiment


def _tuples(table: Mapping[str, list[Scalar]]) -> dict[str, tuple[Scalar, ...]]:
    return {name: tuple(values) for name, values in table.items()}


def _quick(table: Mapping[str, Any] | None) -> Quick | None:
    if table is None:
        return None
    return Quick(
        parameters=dict(table.get("parameters", {})),
        only=_tuples(table.get("only", {})),
        repetitions=table.get("repetitions"),
        warm_ups=table.get("warm_ups"),
        estimate_s=table.get("estimate_s", 0),
    )


def _with_tuples(table: Mapping[str, Any]) -> dict[str, Any]:
    def fixed(value: Any) -> Any:
        return tuple(fixed(x) for x in value) if isinstance(value, list) else value

    return {name: fixed(value) for name, value in table.items()}


Refuse = Callable[[Sequence[str | int], str], FormatError]


@dataclass(frozen=True, slots=True)
class _Checker:
    """What the schema cannot say: that names exist, are unique and fit together."""

    experiment: Experiment
    refuse: Refuse

    def check(self, published: Published | None) -> None:
        self._names()
        self._metrics()
        self._commands()
        self._points()
        self._plots()
        self._expects()
        self._quick()
        if published is not None:
            self._published(published)

    def _names(self) -> None:
        e = self.experiment
        taken: dict[str, str] = dict.fromkeys(_RESERVED, "a placeholder of the harness")
        places: list[tuple[str, list[str | int], str]] = []
        for name in e.parameters:
            places.append((name, ["parameters", name], "a parameter"))
        for index, axis in enumerate(e.axes):
            places.append((axis.name, ["axis", index, "name"], "an axis"))
        for name, where, what in places:
            if name in taken:
                raise self.refuse(where, f"'{name}' is already {taken[name]}; choose another name")
            taken[name] = what
        for index, metric in enumerate(e.metrics):
            if metric.name in [x.name for x in e.metrics[:index]]:
                raise self.refuse(["metric", index, "name"], f"two metrics named '{metric.name}'")
        for index, plot in enumerate(e.plots):
            if plot.name in [x.name for x in e.plots[:index]]:
                raise self.refuse(["plot", index, "name"], f"two plots named '{plot.name}'")

    def _metrics(self) -> None:
        for index, metric in enumerate(self.experiment.metrics):
            given = self.experiment.document["metric"][index]
            needs = {"json": "pointer", "regex": "pattern"}.get(metric.source)
            if needs is not None and needs not in given:
                raise self.refuse(
                    ["metric", index],
                    f"metric '{metric.name}' of source {metric.source} needs '{needs}'",
                )
            for field in ("pointer", "pattern", "from"):
                allowed = field == needs or (field == "from" and needs is not None)
                if field in given and not allowed:
                    raise self.refuse(
                        ["metric", index, field],
                        f"'{field}' has no meaning for source {metric.source}; remove it",
                    )
            if metric.source == "regex":
                try:
                    groups = re.compile(metric.pattern).groups
                except re.error as error:
                    raise self.refuse(
                        ["metric", index, "pattern"],
                        f"'pattern' is not a regular expression: {error}",
                    ) from error
                if groups != 1:
                    raise self.refuse(
                        ["metric", index, "pattern"], f"'pattern' needs one group, not {groups}"
                    )
            if metric.ratio != "none" and self.experiment.baseline is None:
                raise self.refuse(
                    ["metric", index, "ratio"],
                    f"the ratio of metric '{metric.name}' needs a [baseline]",
                )

    def _commands(self) -> None:
        e = self.experiment
        fields = _BUILD_FIELDS | e.parameters.keys()
        for index, command in enumerate(e.build.commands):
            for part in command:
                self._template(part, fields, ["build", "commands", index])
        fields = fields | {"round", "output"} | {x.name for x in e.axes}
        for part in e.run.command:
            self._template(part, fields, ["run", "command"])
        for name, value in (e.run.environment or {}).items():
            self._template(value, fields, ["run", "environment", name])
        for index, metric in enumerate(e.metrics):
            self._template(metric.origin, fields, ["metric", index, "from"])

    def _template(self, text: str, fields: frozenset[str], where: list[str | int]) -> None:
        try:
            used = list(_placeholders(text))
        except ValueError as error:
            raise self.refuse(
                where, f"'{text}': {str(error).lower()}; write {{{{ and }}}} for braces"
            ) from error
        for name in used:
            if name not in fields:
                raise self.refuse(
                    where, f"unknown placeholder {{{name}}}; known are {', '.join(sorted(fields))}"
                )

    def _value(self, axis: str, value: Scalar, where: list[str | int]) -> None:
        known = {x.name: x for x in self.experiment.axes}
        if axis not in known:
            raise self.refuse(where, f"unknown axis '{axis}'; known are {', '.join(known)}")
        if not any(_same(value, x) for x in known[axis].values):
            values = ", ".join(shown(x) for x in known[axis].values)
            raise self.refuse(where, f"axis '{axis}' has no value {shown(value)}; it has {values}")

    def _points(self) -> None:
        e = self.experiment
        for index, axis in enumerate(e.axes):
            texts = [shown(x) for x in axis.values]
            if len(set(texts)) != len(texts):
                raise self.refuse(
                    ["axis", index, "values"], f"axis '{axis.name}' has a value twice"
                )
            for name in axis.labels or {}:
                if name not in texts:
                    raise self.refuse(
                        ["axis", index, "labels", name], f"axis '{axis.name}' has no value {name}"
                    )
        for index, rule in enumerate(e.exclude):
            for name, values in rule.items():
                for value in values:
                    self._value(name, value, ["exclude", index, name])
        points = points_of(e)
        if not points:
            raise self.refuse(["exclude"], "[[exclude]] leaves no point to measure")
        if e.baseline is None:
            return
        for name, value in e.baseline.at.items():
            self._value(name, value, ["baseline", "at", name])
        keys = {key_of(at) for at in points}
        for at in points:
            base = e.baseline_of(at)
            if base is not None and key_of(base) not in keys:
                raise self.refuse(
                    ["baseline", "at"],
                    f"the baseline of {describe(at)} is {describe(base)}, which is excluded",
                )

    def _plots(self) -> None:
        e = self.experiment
        axes = [x.name for x in e.axes]
        for index, mean in enumerate(e.geometric_means):
            self._ratio_metric(mean.metric, ["geometric_mean", index, "metric"])
            if mean.over not in axes:
                raise self.refuse(["geometric_mean", index, "over"], f"unknown axis '{mean.over}'")
        for index, plot in enumerate(e.plots):
            if plot.metric not in [x.name for x in e.metrics]:
                raise self.refuse(["plot", index, "metric"], f"unknown metric '{plot.metric}'")
            if plot.y == "ratio":
                self._ratio_metric(plot.metric, ["plot", index, "metric"])
            used = [("x", plot.x), ("series", plot.series), ("facet", plot.facet)]
            for field, name in used:
                if name and name not in axes:
                    raise self.refuse(["plot", index, field], f"unknown axis '{name}'")
            names = [name for _, name in used if name]
            if len(set(names)) != len(names):
                raise self.refuse(["plot", index], f"plot '{plot.name}' uses an axis twice")
            missing = [x.name for x in e.axes if x.name not in names and len(x.values) > 1]
            if missing:
                raise self.refuse(
                    ["plot", index],
                    f"plot '{plot.name}' does not say where axis '{missing[0]}' goes; "
                    "name it as x, series or facet",
                )
            if plot.kind == "line" and not all(
                isinstance(x, int | float) and not isinstance(x, bool)
                for x in e.axis(plot.x).values
            ):
                raise self.refuse(
                    ["plot", index, "x"],
                    f"a line needs numbers on x, axis '{plot.x}' has others; use kind = \"bar\"",
                )

    def _expects(self) -> None:
        e = self.experiment
        for index, expect in enumerate(e.expects):
            here: list[str | int] = ["expect", index]
            if expect.name in [x.name for x in e.expects[:index]]:
                raise self.refuse([*here, "name"], f"two checks named '{expect.name}'")
            if not expect.check and not expect.why:
                raise self.refuse(here, f"'{expect.name}' has no check; say why")
            if expect.known == "differs" and not expect.why:
                raise self.refuse(here, f"'{expect.name}' is known to differ; say why")
            try:
                expression = expect.expression
            except ExpressionError as error:
                raise self.refuse([*here, "check"], str(error)) from error
            for query in expression.queries if expression else ():
                if query.metric not in [x.name for x in e.metrics]:
                    raise self.refuse([*here, "check"], f"unknown metric '{query.metric}'")
                if query.is_ratio:
                    self._ratio_metric(query.metric, [*here, "check"])
                for name, values in query.at.items():
                    for value in values:
                        self._value(name, value, [*here, "check"])

    def _quick(self) -> None:
        e, quick = self.experiment, self.experiment.quick
        if e.run.side_by_side:
            times = [x.name for x in e.metrics if x.is_time or x.source in ("wall", "cpu")]
            if times:
                raise self.refuse(
                    ["run", "side_by_side"],
                    f"metric '{times[0]}' depends on the load; samples must run one by one",
                )
        if quick is None:
            return
        for name in quick.parameters:
            if name not in e.parameters:
                raise self.refuse(["quick", "parameters", name], f"unknown parameter '{name}'")
        for name, values in quick.only.items():
            for value in values:
                self._value(name, value, ["quick", "only", name])

    def _ratio_metric(self, name: str, where: list[str | int]) -> None:
        metric = next((x for x in self.experiment.metrics if x.name == name), None)
        if metric is None:
            raise self.refuse(where, f"unknown metric '{name}'")
        if metric.ratio == "none":
            raise self.refuse(where, f"metric '{name}' has no ratio; set ratio in its [[metric]]")

    def _published(self, published: Published) -> None:
        e = self.experiment
        for index, statement in enumerate(e.statements):
            if statement not in published.statements:
                raise self.refuse(["statements", index], f"unknown statement '{statement}'")
        for index, expect in enumerate(e.expects):
            if expect.statement and expect.statement not in published.statements:
                raise self.refuse(
                    ["expect", index, "statement"], f"unknown statement '{expect.statement}'"
                )
        axes = [x.name for x in e.axes]
        for index, use in enumerate(e.published):
            here: list[str | int] = ["published", index]
            table = published.tables.get(use.table)
            if table is None:
                raise self.refuse([*here, "table"], f"unknown table '{use.table}'")
            if use.column not in table.columns:
                raise self.refuse(
                    [*here, "column"],
                    f"table '{use.table}' has no column '{use.column}'; it has "
                    f"{', '.join(table.columns)}",
                )
            if use.metric not in [x.name for x in e.metrics]:
                raise self.refuse([*here, "metric"], f"unknown metric '{use.metric}'")
            for name in (*use.where, *use.keys):
                if name not in table.keys:
                    raise self.refuse(here, f"table '{use.table}' has no key '{name}'")
            for name in table.keys:
                if name not in use.where and use.keys.get(name, name) not in axes:
                    raise self.refuse(
                        here,
                        f"key '{name}' of table '{use.table}' is no axis; name it in keys or where",
                    )
            for axis, values in use.at.items():
                for given in values:
                    self._value(axis, given, [*here, "at", axis])
            for axis, mapping in use.values.items():
                if axis not in axes:
                    raise self.refuse([*here, "values"], f"unknown axis '{axis}'")
                known = [shown(x) for x in e.axis(axis).values]
                for value in mapping:
                    if value not in known:
                        raise self.refuse([*here, "values"], f"axis '{axis}' has no value {value}")


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
