# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tables in documents that are made from recorded results, and checked against them.

A document has a comment, a table behind it and the end of both:

    <!-- quote
    record = "results/flask-sizes.json"
    …
    -->
    | … |
    <!-- /quote -->

The table is made anew from what the comment says, in TOML, in one of four forms; files are named
from the document's folder.

means
    `record`, `metric`, `over`, `across`: a row for each combination of the other axes (`only`
    restricts them), a column for each group of `across` (`each = true`: for each of its values) and
    one for all; numbers are geometric means of the metric over that of `over`.
points
    `record`, with `metrics`, `ratios` or both: a row for each point (`only` restricts them), with
    medians of the metrics, in brackets what the paper prints, and ratios to the experiment's
    baseline, in brackets the least and the greatest of a round.
rows
    `rows`, a TOML file of `[[row]]`s, and `columns`, which of their texts. A row with `record`
    (named from the TOML file) has `values`, expressions (expressions.py); `{0}`, `{1:.2f}` and so
    on in its texts stand for these, `{record}` and `{commit}` for where they come from.
list
    `list` and `at`, a list in a JSON file by its pointer, and `columns`, from the title of each to
    a pointer in the list's items, or to a table: `value`, and `over`, what it is divided by;
    `digits` behind the point; `percent = true`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from string import Formatter
from typing import Any

from tandem.errors import FormatError, UserError
from tandem.experiment.expressions import ExpressionError, parse_expression
from tandem.experiment.record import Record, read_record
from tandem.experiment.tables import number
from tandem.formats.documents import parse_json, parse_toml, read_text, resolve_pointer
from tandem.formats.published import Scalar
from tandem.statistics import geometric_mean

__all__ = ["quoted"]

_BLOCK = re.compile(r"(<!-- quote\n(.*?)\n-->\n)(.*?)(<!-- /quote -->)", re.DOTALL)
_FORMS: Mapping[str, tuple[set[str], set[str]]] = {  # what each needs, and what it may have
    "means": ({"record", "metric", "over", "across"}, {"only", "each"}),
    "points": ({"record"}, {"metrics", "ratios", "only"}),
    "rows": ({"rows", "columns"}, set()),
    "list": ({"list", "at", "columns"}, set()),
}


def quoted(path: Path) -> str:
    """The document with its quoted tables made anew. FormatError names the document."""
    text = read_text(path)

    def made(match: re.Match[str]) -> str:
        place = f"{path}:{text.count(chr(10), 0, match.start()) + 1}"
        try:
            return f"{match[1]}{_table(path.parent, match[2], place)}{match[4]}"
        except (UserError, ExpressionError) as error:
            said = str(error)
            raise FormatError(said if said.startswith(place) else f"{place}: {said}") from error

    return _BLOCK.sub(made, text)


def _table(folder: Path, given: str, place: str) -> str:
    spec = parse_toml(given, place)
    form = next(
        (
            name
            for name, (needed, optional) in _FORMS.items()
            if needed <= set(spec) <= needed | optional
        ),
        "",
    )
    match form:
        case "means":
            lines = _means(read_record(folder / str(spec["record"]), place), spec, place)
        case "points" if spec.get("metrics") or spec.get("ratios"):
            lines = _points(read_record(folder / str(spec["record"]), place), spec, place)
        case "rows":
            lines = _rows(folder / str(spec["rows"]), [str(x) for x in spec["columns"]], place)
        case "list":
            lines = _list(folder / str(spec["list"]), str(spec["at"]), spec["columns"], place)
        case _:
            raise FormatError(
                f"{place}: a quote has the fields record, metric, over, across; or record, with"
                " metrics or ratios; or rows, columns; or list, at, columns"
            )
    if broken := [cell for line in lines for cell in line if re.search(r"(?<!\\)\||\n", cell)]:
        raise FormatError(f"{place}: '{broken[0]}' would break the table")
    head, *rest = lines
    return "".join(f"| {' | '.join(x)} |\n" for x in [head, ["---"] * len(head), *rest])


def _only(record: Record, spec: Mapping[str, Any]) -> dict[str, list[Scalar]]:
    only = {name: list(values) for name, values in dict(spec.get("only", {})).items()}
    record.check(only)
    return only


def _means(record: Record, spec: Mapping[str, Any], place: str) -> list[list[str]]:
    across, over, metric = str(spec["across"]), dict(spec["over"]), str(spec["metric"])
    only = _only(record, spec)
    names = list(record.points[0]["at"])
    rows = [x for x in names if x != across]
    if across not in names or not set(over) <= set(rows):
        raise FormatError(f"{place}: {record.place} has the axes {', '.join(names)}")
    columns = _columns(record, across, each=bool(spec.get("each", False)))
    lines = [[*rows, *columns]]
    done: list[dict[str, Scalar]] = []
    for point in record.points:
        at = {name: point["at"][name] for name in rows}
        if at in done or any(at.get(x) not in values for x, values in only.items()):
            continue
        done.append(at)
        cells = [record.label(name, value) for name, value in at.items()]
        for values in columns.values():
            cells.append(_mean(record, metric, at, over, across, values, place))
        lines.append(cells)
    return lines


def _columns(record: Record, across: str, *, each: bool) -> dict[str, list[Scalar]]:
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
    record: Record,
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


def _points(record: Record, spec: Mapping[str, Any], place: str) -> list[list[str]]:
    titles = record.document.get("titles", {})
    metrics = [str(x) for x in spec.get("metrics", ())]
    ratios = [str(x) for x in spec.get("ratios", ())]
    if unknown := [x for x in (*metrics, *ratios) if x not in titles]:
        raise FormatError(f"{place}: {record.place} has no metric '{unknown[0]}'")
    only = _only(record, spec)
    axes = list(record.points[0]["at"])
    bare = [re.sub(r" \([^()]*\)$", "", titles[x]) for x in ratios]  # a ratio has no unit
    lines = [[*axes, *(titles[x] for x in metrics), *(f"ratio of {x}" for x in bare)]]
    for point in record.points:
        if any(point["at"].get(x) not in values for x, values in only.items()):
            continue
        without = point.get("outcome", "").partition(":")[0] or "–"
        lines.append(
            [
                *(record.label(name, point["at"][name]) for name in axes),
                *(_median(point, x, without) for x in metrics),
                *(_ratio(point.get("ratios", {}).get(x), without) for x in ratios),
            ]
        )
    return lines


def _median(point: Mapping[str, Any], metric: str, without: str) -> str:
    value, paper = point["values"].get(metric), point.get("published", {}).get(metric)
    text = without if value is None else number(value)
    return text if paper is None else f"{text} ({number(paper)})"


def _ratio(spread: Sequence[float] | None, without: str) -> str:
    if spread is None:
        return without
    value, *ends = (f"{x:.2f}" for x in spread)
    # The baseline's own is 1 in every round.
    return value if not ends or set(ends) == {value} else f"{value} ({ends[0]}–{ends[1]})"


def _rows(path: Path, columns: Sequence[str], place: str) -> list[list[str]]:
    document = parse_toml(read_text(path), str(path))
    rows = document.get("row")
    if set(document) != {"row"} or not isinstance(rows, list):
        raise FormatError(f"{place}: {path} has other things than [[row]]")
    lines = [list(columns)]
    for number_, row in enumerate(rows, 1):
        where = f"{place}: {path}: row {number_}"
        if unknown := [x for x in row if x not in (*columns, "record", "values")]:
            raise FormatError(f"{where}: '{unknown[0]}' is no column, record or values")
        if absent := [x for x in columns if not isinstance(row.get(x), str)]:
            raise FormatError(f"{where}: has no text '{absent[0]}'")
        lines.append(_row(path, row, columns, where))
    return lines


def _row(path: Path, row: Mapping[str, Any], columns: Sequence[str], where: str) -> list[str]:
    names: dict[str, str] = {}
    values: list[float] = []
    if "record" in row:
        file = path.parent / str(row["record"])
        record = read_record(file, where)
        names = {"record": file.stem, "commit": record.commit}
        try:
            values = [
                parse_expression(str(x), comparison=False).number(record)
                for x in row.get("values", ())
            ]
        except ExpressionError as error:
            raise FormatError(f"{where}: {error}") from error
    used: set[str] = set()
    cells = []
    for text in (row[x] for x in columns):
        try:
            used |= {name for _, name, _, _ in Formatter().parse(text) if name is not None}
            cells.append(text.format(*values, **names))
        except (LookupError, ValueError, AttributeError) as error:
            raise FormatError(f"{where}: '{text}' cannot be filled in: {error}") from error
    if unused := [i for i in range(len(values)) if str(i) not in used]:
        raise FormatError(f"{where}: value {unused[0]} is not used")
    return cells


def _list(path: Path, at: str, columns: Any, place: str) -> list[list[str]]:
    items = _pointed(parse_json(read_text(path), str(path)), at)
    if not isinstance(items, list):
        raise FormatError(f"{place}: {path} has no list at {at}")
    if not isinstance(columns, dict):
        raise FormatError(f"{place}: columns is a table, from titles to pointers")
    for title, given in columns.items():
        pointer = given if isinstance(given, str) else dict(given).get("value", "")
        if all(_pointed(x, str(pointer)) is None for x in items):
            raise FormatError(f"{place}: '{title}': nothing in {path} is at {pointer}")
    return [list(columns), *([_cell(x, of, place) for of in columns.values()] for x in items)]


def _cell(item: Any, given: Any, place: str) -> str:
    """What one column has of an item of the list; of a list there, how long it is."""
    spec = {"value": given} if isinstance(given, str) else dict(given)
    if not {"value"} <= set(spec) <= {"value", "over", "digits", "percent"}:
        raise FormatError(f"{place}: a column is a pointer, or value, over, digits, percent")
    value = _pointed(item, str(spec["value"]))
    if isinstance(value, list | dict):
        value = len(value)
    if isinstance(value, str) or value is None:
        return value or "–"
    if "over" in spec:
        base = _pointed(item, str(spec["over"]))
        if not isinstance(base, int | float) or base == 0:
            return "–"
        value = value / base
    digits = spec.get("digits")
    if spec.get("percent"):
        return f"{100 * value:.{digits or 0}f} %"
    return number(value) if digits is None else f"{value:,.{digits}f}"


def _pointed(document: Any, pointer: str) -> Any:
    """None where nothing is there."""
    try:
        return resolve_pointer(document, pointer)
    except LookupError:
        return None
