# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""All tables and figures of the papers on one page, as Markdown and as HTML from the same blocks.

A row that has no result keeps its place. The HTML file stands alone: its pictures are inside.
"""

from __future__ import annotations

import base64
import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from tandem.experiment.parts import Experiment
from tandem.experiment.plan import Plan, Row
from tandem.experiment.tables import (
    definition_of,
    disturbed_samples,
    metric_rows,
    number,
    outcomes,
)
from tandem.files import printable
from tandem.formats.published import Published
from tandem.formats.published import Table as PublishedTable
from tandem.formats.result import Result, Verdict

__all__ = [
    "STATES",
    "Command",
    "Entry",
    "Grid",
    "Heading",
    "Page",
    "Paragraph",
    "Picture",
    "state_of",
]

STATES = ("met", "differs", "undecided", "not yet")
_MOST_ROWS = 80  # of a table on the page; the result has them all


@dataclass(frozen=True, slots=True)
class Heading:
    level: int
    text: str
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class Paragraph:
    text: str


@dataclass(frozen=True, slots=True)
class Command:
    text: str


@dataclass(frozen=True, slots=True)
class Picture:
    path: Path
    text: str


@dataclass(frozen=True, slots=True)
class Grid:
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    links: bool = False  # the first column names anchors


Block = Heading | Paragraph | Command | Picture | Grid


@dataclass(frozen=True, slots=True)
class Entry:
    """A row and what there is of it."""

    row: Row
    result: Result | None
    plots: tuple[Path, ...]
    failure: str
    verdicts: tuple[Verdict, ...]


def state_of(entry: Entry) -> str:
    """One of STATES: the worst that its checks say."""
    if entry.failure:
        return "undecided"
    if entry.result is None:
        return "not yet"
    states = {x.state for x in entry.verdicts}
    if "differs" in states:
        return "differs"
    if "undecided" in states or "met" not in states:
        return "undecided"
    return "met"


class Page:
    """Results by experiment; pages on demand."""

    def __init__(
        self,
        plan: Plan,
        published: Published,
        quick: bool,
        left_out: Mapping[str, str] | None = None,  # why an experiment is not run
    ) -> None:
        self.results: dict[str, Result] = {}
        self.failures: dict[str, str] = {}
        self._plots: dict[str, list[Path]] = {}
        self._plan = plan
        self._published = published
        self._quick = quick
        self._left_out = dict(left_out or {})

    def earlier(self, results: Mapping[str, tuple[Result, list[Path]]]) -> None:
        for name, (result, plots) in results.items():
            self.add(name, result, plots)

    def add(self, name: str, result: Result, plots: Sequence[Path]) -> None:
        self.results[name] = result
        self._plots[name] = list(plots)
        self.failures.pop(name, None)

    def failed(self, name: str, why: str) -> None:
        self.failures[name] = why

    def entries(self) -> list[Entry]:
        return [self._entry(x) for x in self._plan.rows]

    def counted(self) -> str:
        """How many of the papers' tables and figures are in each state."""
        states = [state_of(x) for x in self.entries() if not x.row.beyond]
        parts = ", ".join(f"{states.count(x)} {x}" for x in STATES)
        return f"{len(states)} tables and figures: {parts}"

    def _entry(self, row: Row) -> Entry:
        result = self.results.get(row.experiment)
        verdicts = tuple(x for x in result.verdicts if x.name in row.checks) if result else ()
        plots = tuple(
            path
            for path in self._plots.get(row.experiment, ())
            if path.suffix == ".svg"
            and any(path.stem == f"{row.experiment}-{x}" for x in row.plots)
        )
        return Entry(row, result, plots, self.failures.get(row.experiment, ""), verdicts)

    # ------------------------------------------------------------------------- blocks

    def blocks(self) -> Iterator[Block]:
        entries = self.entries()
        yield Heading(1, "The papers' tables and figures")
        counted = self.counted()
        form = "the quick form: fewer points, short inputs" if self._quick else "the full form"
        yield Paragraph(f"{counted}. This is {form}.")
        yield Paragraph(
            "met: every check of the row holds. differs: one does not. undecided: a time was "
            "measured while others used the machine, or rounds disagree. not yet: there is no "
            "experiment, or it has not been run."
        )
        absent = [n for n in self._left_out if n not in self.results]
        if absent:
            yield Paragraph(
                f"{len(absent)} experiments are not in this form, and their rows have no result: "
                f"{', '.join(absent)}. Each row says why."
            )
        yield Grid(
            ("row", "place", "what", "state", "checks", "seconds", "age"),
            tuple(self._summary(x) for x in entries),
            links=True,
        )
        for entry in entries:
            yield from self._section(entry)

    def _summary(self, entry: Entry) -> tuple[str, ...]:
        row, result = entry.row, entry.result
        met = sum(x.state == "met" for x in entry.verdicts)
        paper = self._published.papers[row.paper].venue
        return (
            row.id,
            f"{paper}, {row.place}",
            row.title,
            state_of(entry),
            f"{met} of {len(entry.verdicts)}" if entry.verdicts else "",
            f"{_seconds(result):.0f}" if result else "",
            _age(result) if result else "",
        )

    def _section(self, entry: Entry) -> Iterator[Block]:
        row = entry.row
        paper = self._published.papers[row.paper]
        yield Heading(2, f"{row.id}: {row.title}", row.id)
        yield Paragraph(f"{paper.title}, {row.place}. State: {state_of(entry)}.")
        if entry.failure:
            yield Paragraph(f"The experiment failed: {entry.failure}")
        if row.missing:
            yield Paragraph(f"Not yet: {row.missing}")
        if entry.result is None and row.experiment in self._left_out:
            yield Paragraph(f"Not run: {self._left_out[row.experiment]}.")
        for path in entry.plots:
            yield Picture(path, f"{row.id}: {row.title}")
        if entry.result is not None:
            experiment = definition_of(entry.result, row.experiment)
            yield from _measured(entry.result, experiment, row)
            for line in outcomes(entry.result):
                yield Paragraph(line)
            disturbed = disturbed_samples(entry.result)
            if disturbed:
                yield Paragraph(f"{disturbed}.")
        for name in row.tables:
            yield from self._published_table(self._published.tables[name])
        yield from self._sentences(entry)
        if row.subject:
            yield Paragraph(f"What differs in subject: {row.subject}")
        if row.experiment:
            quick = " --quick" if self._quick else ""
            yield Command(f"tandem experiment run {row.experiment}{quick}")

    def _published_table(self, table: PublishedTable) -> Iterator[Block]:
        yield Paragraph(f"Published, {table.place}: {table.title}")
        head = (
            *table.keys,
            *(f"{x} ({table.units[x]})" if table.units.get(x) else x for x in table.columns),
        )
        yield Grid(head, tuple(tuple(map(_cell, row)) for row in table.rows))

    def _sentences(self, entry: Entry) -> Iterator[Block]:
        rows: list[tuple[str, ...]] = []
        said = set()
        for verdict in entry.verdicts:
            sentence = self._published.statements.get(verdict.statement)
            said.add(verdict.statement)
            rows.append(
                (
                    f"“{sentence.text}” ({sentence.place})" if sentence else "",
                    verdict.name,
                    verdict.compared,
                    verdict.state,
                    "" if verdict.state == "met" else verdict.why,
                )
            )
        for name in entry.row.statements:
            if name not in said:
                sentence = self._published.statements[name]
                state = "not checked" if entry.result is not None else "not yet"
                rows.append((f"“{sentence.text}” ({sentence.place})", "", "", state, ""))
        if rows:
            yield Grid(("the paper says", "check", "compared", "verdict", "why"), tuple(rows))

    # ------------------------------------------------------------------------ writing

    def markdown(self) -> str:
        return "\n".join(map(_markdown, self.blocks())) + "\n"

    def html(self, folder: Path) -> str:
        body = "\n".join(_html(x, folder) for x in self.blocks())
        return _FRAME.replace("@BODY@", body)


def _measured(result: Result, experiment: Experiment, row: Row) -> Iterator[Block]:
    for name in row.metrics:
        head, rows = metric_rows(result, experiment, experiment.metric(name))
        if len(rows) > _MOST_ROWS:
            left = len(rows) - _MOST_ROWS
            yield Paragraph(f"{experiment.metric(name).title}; {left} more rows are in the result")
        yield Grid(head, rows[:_MOST_ROWS])
    means = [x for x in result.geometric_means if x.metric in row.metrics]
    if means:
        names = list(dict.fromkeys(name for mean in means for name in mean.at))
        yield Grid(
            (*names, "geometric mean of", "over"),
            tuple(
                (
                    *(_cell(mean.at.get(name, "")) for name in names),
                    f"{mean.metric}: {mean.value:.3f}",
                    mean.over,
                )
                for mean in means
            ),
        )


def _cell(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    return number(value)


def _seconds(result: Result) -> float:
    return sum(s.wall_s for point in result.points for s in point.samples)


def _age(result: Result) -> str:
    finished = datetime.strptime(result.finished, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    days = (datetime.now(UTC) - finished).days
    return finished.strftime("%Y-%m-%d") + (f" ({days} days)" if days > 0 else "")


def _plain(text: str) -> str:
    return " ".join(printable(text).split())


def _markdown(block: Block) -> str:
    match block:
        case Heading(level=level, text=text):
            return f"\n{'#' * level} {_plain(text)}\n"
        case Paragraph(text=text):
            return f"{_plain(text)}\n"
        case Command(text=text):
            return f"```\n{text}\n```\n"
        case Picture(path=path, text=text):
            return f"![{_plain(text)}]({path.name})\n"
        case Grid(head=head, rows=rows):
            lines = [head, tuple("---" for _ in head), *rows]
            return (
                "\n".join(
                    "| " + " | ".join(_plain(x).replace("|", "\\|") for x in line) + " |"
                    for line in lines
                )
                + "\n"
            )


def _html(block: Block, folder: Path) -> str:
    match block:
        case Heading(level=level, text=text, anchor=anchor):
            place = f' id="{html.escape(anchor)}"' if anchor else ""
            return f"<h{level}{place}>{html.escape(_plain(text))}</h{level}>"
        case Paragraph(text=text):
            return f"<p>{html.escape(_plain(text))}</p>"
        case Command(text=text):
            return f"<pre>{html.escape(text)}</pre>"
        case Picture(path=path, text=text):
            data = base64.b64encode((folder / path.name).read_bytes()).decode("ascii")
            label = html.escape(_plain(text), quote=True)
            return f'<img alt="{label}" src="data:image/svg+xml;base64,{data}">'
        case Grid(head=head, rows=rows, links=links):
            top = "".join(f"<th>{html.escape(_plain(x))}</th>" for x in head)
            lines = "".join(f"<tr>{_cells(row, links)}</tr>" for row in rows)
            return f"<table><thead><tr>{top}</tr></thead><tbody>{lines}</tbody></table>"


def _cells(row: Sequence[str], links: bool) -> str:
    cells = []
    for index, text in enumerate(row):
        shown = html.escape(_plain(text))
        if links and index == 0:
            shown = f'<a href="#{html.escape(text, quote=True)}">{shown}</a>'
        kind = f' class="{text.replace(" ", "-")}"' if text in (*STATES, "not checked") else ""
        cells.append(f"<td{kind}>{shown}</td>")
    return "".join(cells)


_FRAME = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>The papers' tables and figures</title>
<style>
body { font: 15px/1.45 system-ui, sans-serif; max-width: 75em; margin: 2em auto; padding: 0 1em; }
table { border-collapse: collapse; margin: 1em 0; font-size: 13px; }
th, td { border-bottom: 1px solid #ddd; padding: 0.2em 0.7em; }
th, td { text-align: left; vertical-align: top; }
h2 { margin-top: 2.5em; border-top: 2px solid #ddd; padding-top: 0.6em; }
img { max-width: 100%; }
pre { background: #f4f4f4; padding: 0.6em; }
.met { color: #00654a; font-weight: bold; }
.differs { color: #b34700; font-weight: bold; }
.undecided { color: #7a5c00; font-weight: bold; }
.not-yet, .not-checked { color: #666; }
</style>
@BODY@
</html>
"""
