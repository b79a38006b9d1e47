# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the schema of experiments cannot say: that names exist, are unique and fit together."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tandem.errors import FormatError
from tandem.experiment.expressions import ExpressionError
from tandem.experiment.parts import (
    Experiment,
    describe,
    key_of,
    placeholders,
    points_of,
    same,
    shown,
)
from tandem.formats.published import Published, Scalar

__all__ = ["Refuse", "check_definition"]

_RESERVED = ("build", "output", "round", "source", "work")
_BUILD_FIELDS = frozenset({"build", "source", "work"})

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
            if metric.interval and metric.interval not in [x.name for x in self.experiment.metrics]:
                raise self.refuse(
                    ["metric", index, "interval"], f"unknown metric '{metric.interval}'"
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
            used = list(placeholders(text))
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
        if not any(same(value, x) for x in known[axis].values):
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
        for index, group in enumerate(e.groups):
            for value in group.values:
                self._value(group.axis, value, ["group", index, "values"])
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
            for name, values in (plot.only or {}).items():
                for value in values:
                    self._value(name, value, ["plot", index, "only", name])
            drawn = {x.name: (plot.only or {}).get(x.name, x.values) for x in e.axes}
            missing = [
                name for name, values in drawn.items() if name not in names and len(values) > 1
            ]
            if missing:
                raise self.refuse(
                    ["plot", index],
                    f"plot '{plot.name}' does not say where axis '{missing[0]}' goes; "
                    "name it as x, series or facet, or take one value of it by only",
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


def check_definition(experiment: Experiment, refuse: Refuse, published: Published | None) -> None:
    """FormatError, made by `refuse`, for the first thing that is wrong."""
    _Checker(experiment, refuse).check(published)
