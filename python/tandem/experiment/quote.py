# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tables in documents that are made from recorded results, and checked against them.

A record is a result without its samples: small enough for the repository. A document has

    <!-- quote
    record = "results/flask-sizes.json"
    metric = "cycles"
    over = { protocol = "sparse-directory", provision = 160 }
    across = "workload"
    -->
    | … |
    <!-- /quote -->

and the lines between are a table: a row for each combination of the other axes (`only` restricts
them), a column for each group of `across` (`each = true`: for each of its values) and one for all;
numbers are geometric means of the metric over that of `over`. With `metrics = ["in_flight", …]` in
place of the last three it has a row for each point and a column for each of these metrics: its
median, and in brackets what the paper prints.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tandem.errors import FormatError, UserError
from tandem.experiment.tables import definition_of, number
from tandem.formats.documents import parse_json, parse_toml, read_text, to_json
from tandem.formats.published import Scalar
from tandem.formats.result import Result
from tandem.statistics import geometric_mean

__all__ = ["quoted", "record_of"]

_VERSION = 1
_BLOCK = re.compile(r"(<!-- quote\n(.*?)\n-->\n)(.*?)(<!-- /quote -->)", re.DOTALL)
_FIELDS = {"record", "metric", "over", "across"}
_PLAIN_FIELDS = {"record", "metrics"}
_OPTIONAL = {"only", "each"}  # only: axis -> the values that have rows


def record_of(result: Result, place: str) -> str:
    """The result as a record: medians of all metrics at all points, and where they come from."""
    experiment = definition_of(result, place)
    return to_json(
        {
            "version": _VERSION,
            "experiment": result.experiment["name"],
            "sha256": result.experiment["sha256"],
            "commit": result.commit,
            "finished": result.finished,
            "parameters": result.configuration["parameters"],
            "labels": {x.name: dict(x.labels or {}) for x in experiment.axes},
            "titles": {
                x.name: f"{x.title}{f' ({x.unit})' if x.unit else ''}" for x in experiment.metrics
            },
            "groups": [
                {"axis": x.axis, "name": x.name, "values": list(x.values)}
                for x in experiment.groups
            ],
            "points": [
                {
                    "at": dict(point.at),
                    "values": {
                        name: float(f"{s.median:.6g}") for name, s in point.summaries.items()
                    },
                    **(
                        {"published": {x.metric: x.value for x in point.published}}
                        if point.published
                        else {}
                    ),
                    **({"outcome": point.outcome} if point.outcome else {}),
                }
                for point in result.points
            ],
        }
    )


@dataclass(frozen=True, slots=True)
class _Record:
    place: str
    document: Mapping[str, Any]

    @property
    def points(self) -> Sequence[Mapping[str, Any]]:
        points: Sequence[Mapping[str, Any]] = self.document["points"]
        return points

    def value(self, at: Mapping[str, Scalar], metric: str) -> float | None:
        for point in self.points:
            if point["at"] == at:
                found = point["values"].get(metric)
                return None if found is None else float(found)
        return None

    def label(self, axis: str, value: Scalar) -> str:
        return str(self.document["labels"].get(axis, {}).get(str(value), value))


def quoted(path: Path) -> str:
    """The document with its quoted tables made anew. FormatError names the document."""
    text = read_text(path)

    def made(match: re.Match[str]) -> str:
        line = text.count("\n", 0, match.start()) + 1
        table = _table(path, match[2], f"{path}:{line}")
        return f"{match[1]}{table}{match[4]}"

    return _BLOCK.sub(made, text)


def _table(path: Path, given: str, place: str) -> str:
    spec = parse_toml(given, place)
    if set(spec) - _OPTIONAL not in (_FIELDS, _PLAIN_FIELDS):
        raise FormatError(
            f"{place}: a quote has the fields {', '.join(sorted(_FIELDS))}, or record and metrics"
        )
    record = _read(path.parent / str(spec["record"]), place)
    if "metrics" in spec:
        return _plain_table(record, spec, place)
    across, over, metric = str(spec["across"]), dict(spec["over"]), str(spec["metric"])
    only = {name: list(values) for name, values in dict(spec.get("only", {})).items()}
    names = list(record.points[0]["at"])
    rows = [x for x in names if x != across]
    if across not in names or not set(over) <= set(rows):
        raise FormatError(f"{place}: {record.place} has the axes {', '.join(names)}")
    columns = _columns(record, across, each=bool(spec.get("each", False)))
    lines = [
        " | ".join([*rows, *columns]),
        " | ".join("---" for _ in [*rows, *columns]),
    ]
    done: list[dict[str, Scalar]] = []
    for point in record.points:
        at = {name: point["at"][name] for name in rows}
        if at in done or any(at.get(x) not in values for x, values in only.items()):
            continue
        done.append(at)
        cells = [record.label(name, value) for name, value in at.items()]
        for values in columns.values():
            cells.append(_mean(record, metric, at, over, across, values, place))
        lines.append(" | ".join(cells))
    return "".join(f"| {line} |\n" for line in lines)


def _plain_table(record: _Record, spec: Mapping[str, Any], place: str) -> str:
    """A row for each point, the metrics as columns."""
    titles = record.document.get("titles", {})
    metrics = [str(x) for x in spec["metrics"]]
    unknown = [x for x in metrics if x not in titles]
    if unknown:
        raise FormatError(f"{place}: {record.place} has no metric '{unknown[0]}'")
    only = {name: list(values) for name, values in dict(spec.get("only", {})).items()}
    axes = list(record.points[0]["at"])
    rows = [[*axes, *(titles[x] for x in metrics)]]
    rows.append(["---"] * len(rows[0]))
    for point in record.points:
        if any(point["at"].get(x) not in values for x, values in only.items()):
            continue
        cells = [record.label(name, point["at"][name]) for name in axes]
        for metric in metrics:
            value, paper = point["values"].get(metric), point.get("published", {}).get(metric)
            text = point.get("outcome", "").partition(":")[0] or "–"
            text = text if value is None else number(value)
            cells.append(text if paper is None else f"{text} ({number(paper)})")
        rows.append(cells)
    return "".join(f"| {' | '.join(cells)} |\n" for cells in rows)


def _columns(record: _Record, across: str, *, each: bool) -> dict[str, list[Scalar]]:
    every: list[Scalar] = list(dict.fromkeys(x["at"][across] for x in record.points))
    if each:
        return {**{record.label(across, x): [x] for x in every}, "all": every}
    groups = {
        x["name"]: [value for value in x["values"] if value in every]
        for x in record.document["groups"]
        if x["axis"] == across
    }
    return {**groups, "all": every}


def _mean(
    record: _Record,
    metric: str,
    at: Mapping[str, Scalar],
    over: Mapping[str, Scalar],
    across: str,
    values: Sequence[Scalar],
    place: str,
) -> str:
    order = list(record.points[0]["at"])
    ratios = []
    for value in values:
        own = {name: {**at, across: value}[name] for name in order}
        base = {name: {**at, **over, across: value}[name] for name in order}
        mine, theirs = record.value(own, metric), record.value(base, metric)
        if mine is None:
            return "–"
        if not theirs:
            raise FormatError(f"{place}: {record.place} has no {metric} at {base}")
        ratios.append(mine / theirs)
    return f"{geometric_mean(ratios):.3f}" if ratios else "–"


def _read(path: Path, place: str) -> _Record:
    try:
        document = parse_json(read_text(path), str(path))
    except UserError as error:
        raise FormatError(f"{place}: {error}") from error
    if not isinstance(document, dict) or document.get("version") != _VERSION:
        raise FormatError(f"{place}: {path} is no record of version {_VERSION}")
    return _Record(str(path), document)
