# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A record: a result without its samples, small enough for the repository, for documents to quote.

Immutable once read; errors are FormatErrors that name the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tandem.errors import FormatError
from tandem.experiment.expressions import ExpressionError, Query
from tandem.experiment.tables import definition_of
from tandem.formats.documents import parse_json, read_text, to_json
from tandem.formats.published import Scalar
from tandem.formats.result import Point, Result
from tandem.statistics import Ratio

__all__ = ["Record", "read_record", "record_of"]

_VERSION = 1


def record_of(result: Result, place: str) -> str:
    """Medians of all metrics at all points, their ratios to the baseline, and where they come
    from.
    """
    experiment = definition_of(result, place)
    samples = [sample for point in result.points for sample in point.samples]
    return to_json(
        {
            "version": _VERSION,
            "experiment": result.experiment["name"],
            "sha256": result.experiment["sha256"],
            "commit": result.commit,
            "host": {name: result.host[name] for name in ("cpu", "cores", "rtm")},
            "finished": result.finished,
            "samples": {
                "taken": len(samples),
                "disturbed": sum(bool(x.disturbed) for x in samples),
            },
            "parameters": result.configuration["parameters"],
            "labels": {x.name: dict(x.labels or {}) for x in experiment.axes},
            "titles": {
                x.name: f"{x.title}{f' ({x.unit})' if x.unit else ''}" for x in experiment.metrics
            },
            "groups": [
                {"axis": x.axis, "name": x.name, "values": list(x.values)}
                for x in experiment.groups
            ],
            "points": [_point(x) for x in result.points],
        }
    )


def _point(point: Point) -> dict[str, Any]:
    made: dict[str, Any] = {
        "at": dict(point.at),
        "values": {name: _short(x.median) for name, x in point.summaries.items()},
    }
    if point.ratios:
        made["ratios"] = {name: _spread(x) for name, x in point.ratios.items()}
    if point.published:
        made["published"] = {x.metric: x.value for x in point.published}
    if point.outcome:
        made["outcome"] = point.outcome
    return made


def _spread(ratio: Ratio) -> list[float]:
    """The ratio; where rounds were compared, also the least and the greatest of them."""
    ends = () if ratio.minimum is None or ratio.maximum is None else (ratio.minimum, ratio.maximum)
    return [_short(x) for x in (ratio.value, *ends)]


def _short(value: float) -> float:
    return float(f"{value:.6g}")


@dataclass(frozen=True, slots=True)
class Record:
    """As read; the shape is that of record_of, older ones lack `host`, `samples`, `ratios`."""

    place: str
    document: Mapping[str, Any]

    @property
    def points(self) -> Sequence[Mapping[str, Any]]:
        points: Sequence[Mapping[str, Any]] = self.document["points"]
        return points

    @property
    def processors(self) -> int:
        """ExpressionError where the record does not say."""
        try:
            return int(self.document["host"]["cores"])
        except KeyError as error:
            raise ExpressionError(f"{self.place} does not say how many processors") from error

    def value(self, at: Mapping[str, Scalar], metric: str) -> float | None:
        """None where there is no such point, or it has no figures."""
        for point in self.points:
            if point["at"] == at:
                found = point["values"].get(metric)
                return None if found is None else float(found)
        return None

    def label(self, axis: str, value: Scalar) -> str:
        return str(self.document["labels"].get(axis, {}).get(str(value), value))

    @property
    def commit(self) -> str:
        """Its short name, with a mark where there were changes; empty where none was recorded."""
        commit = self.document.get("commit") or {}
        return f"{str(commit.get('git') or '')[:7]}{'+changes' if commit.get('dirty') else ''}"

    def check(self, at: Mapping[str, Iterable[Scalar]]) -> None:
        """ExpressionError where the record has not all of these values on these axes."""
        for axis, values in at.items():
            known = [point["at"][axis] for point in self.points if axis in point["at"]]
            if not known:
                raise ExpressionError(f"{self.place} has no axis '{axis}'")
            if unknown := [x for x in values if x not in known]:
                raise ExpressionError(f"{self.place} has no {axis} '{unknown[0]}'")

    def read(self, query: Query) -> list[float]:
        """The Lookup of expressions, of what was recorded."""
        self.check(query.at)
        found: list[float] = []
        for point in self.points:
            if any(point["at"][name] not in values for name, values in query.at.items()):
                continue
            kind = "ratios" if query.is_ratio else "values"
            number = point.get(kind, {}).get(query.metric)
            if number is None:
                raise ExpressionError(
                    f"{self.place} has no {query.metric} in {kind} at {point['at']}"
                )
            found.append(float(number[0] if query.is_ratio else number))
        return found


def read_record(path: Path, place: str) -> Record:
    """`place` is who asks."""
    document = parse_json(read_text(path), str(path))
    if not isinstance(document, dict) or document.get("version") != _VERSION:
        raise FormatError(f"{place}: {path} is no record of version {_VERSION}")
    if not document.get("points"):
        raise FormatError(f"{place}: {path} has no points")
    return Record(str(path), document)
