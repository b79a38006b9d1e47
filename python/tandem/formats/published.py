# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Published values: what the papers print in tables and sentences (experiments/published.toml).

The file has [[paper]], [[table]] (rows of keys, then values) and [[statement]] (quoted sentences).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tandem.errors import FormatError
from tandem.formats.documents import check, find_line, parse_toml, read_text

__all__ = ["Paper", "Published", "Scalar", "Statement", "Table", "read_published"]

Scalar = str | int | float | bool


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper that numbers are taken from."""

    id: str
    title: str
    authors: str
    venue: str


@dataclass(frozen=True, slots=True)
class Table:
    """Numbers of one table or sentence: each row has len(keys) keys and len(columns) values."""

    id: str
    paper: str  # Paper.id
    place: str  # table, figure or section in the paper
    title: str
    keys: tuple[str, ...]
    columns: tuple[str, ...]
    units: Mapping[str, str]  # by column; "" for plain numbers
    rows: tuple[tuple[Scalar, ...], ...]

    def key_of(self, row: tuple[Scalar, ...]) -> dict[str, Scalar]:
        """The row's keys by name."""
        return dict(zip(self.keys, row[: len(self.keys)], strict=True))

    def value_of(self, row: tuple[Scalar, ...], column: str) -> Scalar:
        """The row's value in a column; KeyError where there is no such column."""
        if column not in self.columns:
            raise KeyError(column)
        return row[len(self.keys) + self.columns.index(column)]


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of a paper about a figure whose data it does not print, or about a result."""

    id: str
    paper: str  # Paper.id
    place: str
    text: str


@dataclass(frozen=True, slots=True)
class Published:
    """The whole file; all maps are by id."""

    papers: Mapping[str, Paper]
    tables: Mapping[str, Table]
    statements: Mapping[str, Statement]


def read_published(path: Path) -> Published:
    """Reads and checks the file; FormatError with the line where something is wrong."""
    text = read_text(path)
    document = parse_toml(text, str(path))
    check(document, "published", str(path), text)

    def refuse(where: list[str | int], message: str) -> FormatError:
        line = find_line(text, where)
        return FormatError(f"{path}{'' if line is None else f':{line}'}: {message}")

    papers = {x["id"]: Paper(**x) for x in document["paper"]}
    tables: dict[str, Table] = {}
    statements: dict[str, Statement] = {}
    for index, x in enumerate(document["table"]):
        here: list[str | int] = ["table", index, "id"]
        if x["paper"] not in papers:
            raise refuse(here, f"table '{x['id']}' names no known paper: '{x['paper']}'")
        if x["id"] in tables:
            raise refuse(here, f"table '{x['id']}' is defined twice")
        tables[x["id"]] = _table(x, lambda message, here=here: refuse(here, message))
    for index, x in enumerate(document["statement"]):
        here = ["statement", index, "id"]
        if x["paper"] not in papers:
            raise refuse(here, f"statement '{x['id']}' names no known paper: '{x['paper']}'")
        if x["id"] in statements:
            raise refuse(here, f"statement '{x['id']}' is defined twice")
        statements[x["id"]] = Statement(**x)
    return Published(papers, tables, statements)


def _table(x: Mapping[str, Any], refuse: Any) -> Table:
    keys, columns = tuple(x.get("keys", ())), tuple(x["columns"])
    rows = tuple(tuple(row) for row in x["rows"])
    if len(set(keys + columns)) != len(keys) + len(columns):
        raise refuse(f"table '{x['id']}': two keys or columns have one name")
    for row in rows:
        if len(row) != len(keys) + len(columns):
            raise refuse(
                f"table '{x['id']}': a row has {len(row)} entries, not {len(keys) + len(columns)}: "
                f"{list(row)}"
            )
    if len({row[: len(keys)] for row in rows}) != len(rows):
        raise refuse(f"table '{x['id']}': two rows have the same keys")
    return Table(
        id=x["id"],
        paper=x["paper"],
        place=x["place"],
        title=x["title"],
        keys=keys,
        columns=columns,
        units=dict(x.get("units", {})),
        rows=rows,
    )
