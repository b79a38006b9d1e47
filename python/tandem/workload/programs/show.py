# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What became of the programs of a survey: a table, a page, JSON."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from dataclasses import asdict

from tandem.experiment.host import commit_of, this_host
from tandem.files import printable
from tandem.paths import ROOT
from tandem.workload.programs.survey import Outcome

__all__ = ["to_html", "to_json", "to_table"]

_HEADER = ("PROGRAM", "IN SOURCES", "SITES", "UNDERSTOOD", "FINDINGS", "SECTIONS", "LOCKS")
_STYLE = """body { font: 15px/1.5 sans-serif; margin: 2em auto; max-width: 75em; padding: 0 1em; }
table { border-collapse: collapse; } td, th { padding: .2em .8em; text-align: right; }
td:first-child, th:first-child { text-align: left; } tr:nth-child(even) { background: #8881; }
:root { color-scheme: light dark; }"""


def _rows(outcomes: Sequence[Outcome], threads: Sequence[int]) -> list[list[str]]:
    variants = [x for o in outcomes for x in o.variants if x != "clang-lto"]
    columns = [(name, count) for name in dict.fromkeys(variants) for count in threads]
    # What there are figures of; a program whose sections all hold locks counts as not converted.
    shares = [
        (text, where, count)
        for text, where in (
            ("waited@{}", "waited"),
            ("tx@{}", "transactions"),
            ("tx@{} later", "transactions_later"),
        )
        for count in threads
        if any(count in getattr(x, where) for x in outcomes)
    ]
    rows = [
        [
            *_HEADER,
            *(f"{name}@{count}" for name, count in columns),
            *(text.format(count) for text, _, count in shares),
        ]
    ]
    for outcome in outcomes:
        if outcome.failed:
            rows.append([outcome.name, *["-"] * (len(rows[0]) - 1)])
            continue
        ratios = [outcome.ratio(name, count) for name, count in columns]
        counts = (
            *(outcome.sites_in_sources, outcome.sites, outcome.understood, outcome.shown),
            *(outcome.sections, outcome.locks + len(outcome.kept)),
        )
        rows.append(
            [
                outcome.name,
                *map(str, counts),
                *("-" if ratio is None else f"{ratio:.2f}" for ratio in ratios),
                *(
                    f"{getattr(outcome, where)[count]:.0%}"
                    if count in getattr(outcome, where)
                    else "-"
                    for _, where, count in shares
                ),
            ]
        )
    return rows


def _heading(outcomes: Sequence[Outcome]) -> str:
    done = [x for x in outcomes if not x.failed]
    sites = sum(x.sites for x in done)
    understood = sum(x.understood for x in done)
    return (
        f"{len(done)} of {len(outcomes)} programs; {understood} of {sites} acquisitions of locks "
        "understood; CPU time divided by clang's with full LTO"
    )


def _notes(outcome: Outcome) -> list[str]:
    notes = [f"failed: {outcome.failed}"] if outcome.failed else []
    notes += [f"not understood: {x}" for x in outcome.missed]
    notes += [f"stays a lock: {x}" for x in outcome.kept]
    return notes + [f"DIFFERS: {x}" for x in outcome.differ]


def to_table(outcomes: Sequence[Outcome], threads: Sequence[int]) -> str:
    """For a terminal: what became of each, and below what did not work."""
    rows = _rows(outcomes, threads)
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = [_heading(outcomes)]
    lines += [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    lines += [f"{x.name}: {printable(note)}" for x in outcomes for note in _notes(x)]
    return "\n".join(lines)


def to_html(outcomes: Sequence[Outcome], threads: Sequence[int]) -> str:
    """The same as a page that stands alone."""

    def row(cells: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(x)}</{tag}>" for x in cells) + "</tr>"

    rows = _rows(outcomes, threads)
    parts = [
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Real programs</title>',
        f"<style>{_STYLE}</style><h1>Real programs</h1><p>{html.escape(_heading(outcomes))}</p>",
        "<table>",
        row(rows[0], "th"),
        *(row(x, "td") for x in rows[1:]),
        "</table>",
    ]
    for outcome in outcomes:
        parts.append(f"<h2>{html.escape(outcome.name)}</h2>")
        rules = sorted(outcome.findings.items())
        parts.append(f"<p>{html.escape(', '.join(f'{k} {v}' for k, v in rules))}</p><ul>")
        parts += [f"<li>{html.escape(printable(x))}</li>" for x in _notes(outcome)]
        parts.append("</ul>")
    return "\n".join([*parts, "</html>", ""])


def to_json(outcomes: Sequence[Outcome]) -> str:
    """Of what commit and machine it is, too."""
    document = {
        "version": 1,
        "commit": asdict(commit_of(ROOT)),
        "host": asdict(this_host()),
        "programs": [asdict(x) | {"shown": x.shown} for x in outcomes],
    }
    return json.dumps(document, indent=2) + "\n"
