# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The result of an experiment (docs/formats/result.md), as read and as written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tandem.errors import FormatError
from tandem.formats.documents import check, parse_json, read_text, to_json, write_text
from tandem.formats.published import Scalar, Statement
from tandem.statistics import Ratio, Summary

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "RESULT_VERSION",
    "Mean",
    "Point",
    "PublishedValue",
    "Result",
    "Sample",
    "Verdict",
    "read_result",
    "result_from_json",
    "result_to_json",
    "write_result",
]

RESULT_VERSION = 1


@dataclass(frozen=True, slots=True)
class Sample:
    """One run of the command, raw."""

    round: int
    position: int  # within the round
    worker: str
    wall_s: float
    cpu_s: float
    metrics: Mapping[str, int | float]
    others_cpu_s: float | None = None  # processor time of everything else meanwhile; None: unknown
    stolen_s: float | None = None  # time that the hypervisor gave to others
    disturbed: str | None = None  # why its times are no evidence; "": they are; None: not recorded
    outcome: str = ""  # why there are no metrics: "did not end: ...", "refused: ..."
    # Processor time of a fixed piece of work around the sample, by one thread and by the slowest of
    # one for each processor; None where no metric is a processor time.
    probe_one_s: float | None = None
    probe_all_s: float | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of one check of the experiment."""

    name: str
    state: str  # met, differs, undecided, not checked
    known: str  # met, differs: what the project has recorded
    check: str  # the expression
    compared: str  # its two sides; empty where there are none
    why: str
    statement: str  # id of the sentence, if there is one

    @property
    def is_missed(self) -> bool:
        """Whether it differs where the project has recorded that it is met."""
        return self.state == "differs" and self.known == "met"


@dataclass(frozen=True, slots=True)
class PublishedValue:
    """What the paper prints for a point; `ratio` is to the paper's own baseline, if it has one."""

    metric: str
    value: float
    ratio: float | None
    unit: str
    table: str
    paper: str
    place: str


@dataclass(frozen=True, slots=True)
class Point:
    """All samples of one point and what was computed from them; maps are by metric."""

    at: Mapping[str, Scalar]
    samples: tuple[Sample, ...]
    summaries: Mapping[str, Summary]
    ratios: Mapping[str, Ratio]
    published: tuple[PublishedValue, ...]

    @property
    def outcome(self) -> str:
        """Why there are no figures; empty where there are."""
        return next((x.outcome for x in self.samples if x.outcome), "")

    def published_of(self, metric: str) -> PublishedValue | None:
        return next((x for x in self.published if x.metric == metric), None)


@dataclass(frozen=True, slots=True)
class Mean:
    """A geometric mean of `n` ratios over an axis, at fixed values of the others."""

    metric: str
    over: str
    at: Mapping[str, Scalar]
    n: int
    value: float


@dataclass(frozen=True, slots=True)
class Result:
    """A whole result. The maps follow the schema; units are in the names of their fields."""

    experiment: Mapping[str, str]  # name, title, paper, file, sha256
    definition: Mapping[str, Any]  # the experiment file's content
    commit: Mapping[str, Any]
    host: Mapping[str, Any]
    compilers: Mapping[str, str]
    configuration: Mapping[str, Any]
    seed: int
    started: str
    finished: str
    points: tuple[Point, ...]
    geometric_means: tuple[Mean, ...]
    statements: tuple[Statement, ...]
    verdicts: tuple[Verdict, ...] = ()

    def frame(self) -> pd.DataFrame:
        """Every raw sample as a row: axes, round, position, worker, wall_s, cpu_s, metric.NAME."""
        import pandas as pd  # slow to load, and needed only here

        return pd.DataFrame(
            [
                {
                    **point.at,
                    "round": sample.round,
                    "position": sample.position,
                    "worker": sample.worker,
                    "wall_s": sample.wall_s,
                    "cpu_s": sample.cpu_s,
                    **{f"metric.{name}": value for name, value in sample.metrics.items()},
                }
                for point in self.points
                for sample in point.samples
            ]
        )


def result_to_json(result: Result, place: str = "result") -> str:
    """The result as JSON text, checked against the schema."""
    document = {"version": RESULT_VERSION, **asdict(result)}
    text = to_json(document)
    check(parse_json(text, place), "result", place, version=RESULT_VERSION)
    return text


def write_result(path: Path, result: Result) -> None:
    """Writes the file whole or not at all."""
    write_text(path, result_to_json(result, str(path)))


def result_from_json(text: str, place: str) -> Result:
    """Reads what result_to_json writes; FormatError with the place where it is another thing."""
    document = parse_json(text, place)
    check(document, "result", place, version=RESULT_VERSION)
    assert isinstance(document, dict)
    points = tuple(
        Point(
            at=x["at"],
            samples=tuple(Sample(**s) for s in x["samples"]),
            summaries={name: Summary(**s) for name, s in x["summaries"].items()},
            ratios={name: Ratio(**r) for name, r in x["ratios"].items()},
            published=tuple(PublishedValue(**p) for p in x["published"]),
        )
        for x in document["points"]
    )
    for index, point in enumerate(points):
        for name, summary in point.summaries.items():
            if not (
                summary.minimum <= summary.q1 <= summary.median <= summary.q3 <= summary.maximum
                and summary.n == len(point.samples)
            ):
                raise FormatError(
                    f"{place}: /points/{index}/summaries/{name}: does not fit its samples"
                )
    given = {k: v for k, v in document.items() if k != "version"}
    return Result(
        **{
            **given,
            "points": points,
            "geometric_means": tuple(Mean(**x) for x in document["geometric_means"]),
            "statements": tuple(Statement(**x) for x in document["statements"]),
            "verdicts": tuple(Verdict(**x) for x in document.get("verdicts", ())),
        }
    )


def read_result(path: Path) -> Result:
    """Reads a result file."""
    return result_from_json(read_text(path), str(path))
