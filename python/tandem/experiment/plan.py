# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The list of all tables and figures of the papers (experiments/paper.toml): which experiment shows
each, which checks belong to it, and why one has none yet. Immutable; errors name file and line.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tandem.errors import FormatError
from tandem.experiment.definition import read_experiment
from tandem.experiment.parts import Experiment
from tandem.formats.documents import check, find_line, parse_toml, read_text
from tandem.formats.published import Published

__all__ = ["Plan", "Row", "read_plan"]


@dataclass(frozen=True, slots=True)
class Row:
    """One table or figure of a paper."""

    id: str  # paper.place, as in lockstm.figure6
    paper: str  # Paper.id
    place: str
    title: str
    experiment: str = ""  # empty: there is none yet
    plots: tuple[str, ...] = ()  # of the experiment
    metrics: tuple[str, ...] = ()  # of the experiment, whose tables stand here
    checks: tuple[str, ...] = ()  # names of the experiment's [[expect]]
    tables: tuple[str, ...] = ()  # published tables
    statements: tuple[str, ...] = ()  # published sentences
    subject: str = ""  # what differs in subject: version, workload, machine
    missing: str = ""  # why there is no experiment yet
    beyond: bool = False  # ours, beside what the papers have: not counted


@dataclass(frozen=True, slots=True)
class Plan:
    """All rows in the papers' order, and the experiments that they name."""

    rows: tuple[Row, ...]
    experiments: Mapping[str, Experiment]  # by name, in the order of their first rows


def read_plan(path: Path, published: Published) -> Plan:
    """Reads and checks the list and every experiment that it names, before anything runs."""
    text = read_text(path)
    document = parse_toml(text, str(path))
    check(document, "paper", str(path), text)
    rows: list[Row] = []
    experiments: dict[str, Experiment] = {}
    for index, given in enumerate(document["row"]):
        fields: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in given.items()
        }
        row = Row(**fields)

        def refuse(message: str, index: int = index) -> FormatError:
            line = find_line(text, ["row", index, "id"])
            return FormatError(f"{path}{'' if line is None else f':{line}'}: {message}")

        if row.id in [x.id for x in rows]:
            raise refuse(f"two rows '{row.id}'")
        if bool(row.experiment) == bool(row.missing):
            raise refuse(f"row '{row.id}' needs an experiment, or says what is missing")
        if row.experiment and row.experiment not in experiments:
            file = path.parent / f"{row.experiment}.toml"
            experiments[row.experiment] = read_experiment(file, published)
        _check(row, experiments.get(row.experiment), published, refuse)
        rows.append(row)
    return Plan(tuple(rows), experiments)


def _check(row: Row, experiment: Experiment | None, published: Published, refuse: Any) -> None:
    known: dict[str, tuple[Sequence[str], Collection[str]]] = {
        "paper": ([row.paper], published.papers),
        "table": (row.tables, published.tables),
        "statement": (row.statements, published.statements),
    }
    if experiment is not None:
        known |= {
            "plot": (row.plots, [x.name for x in experiment.plots]),
            "metric": (row.metrics, [x.name for x in experiment.metrics]),
            "check": (row.checks, [x.name for x in experiment.expects]),
        }
        if not row.checks:
            raise refuse(f"row '{row.id}' has an experiment and no check")
    for what, (names, there) in known.items():
        for name in names:
            if name not in there:
                raise refuse(f"row '{row.id}': there is no {what} '{name}'")
