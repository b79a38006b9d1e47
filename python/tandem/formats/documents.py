# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reading, checking and writing of JSON and TOML files; what all formats share.

Messages are `place: what is wrong; remedy`, where place is FILE, FILE:LINE or FILE: /json/pointer.
"""

from __future__ import annotations

import functools
import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

import jsonschema

from tandem.errors import FormatError
from tandem.files import read_text, write_text
from tandem.paths import FORMATS

__all__ = [
    "check",
    "find_line",
    "parse_json",
    "parse_toml",
    "pointer_of",
    "read_text",
    "resolve_pointer",
    "schema",
    "to_json",
    "write_text",
]


_MOST_TOML_BYTES = 4 << 20
_MOST_DEPTH = 64  # of brackets, and of parts of a key
_MOST_VALUES = 10_000_000  # of a JSON document; results have some thousands


def parse_json(text: str, place: str) -> Any:
    """The JSON value; FormatError `place:line:column: …` where the text is not JSON."""

    def refuse(constant: str) -> float:
        raise FormatError(f"{place}: {constant} is not JSON")

    # Each value but the first of its list or object follows a comma, within strings too.
    if text.count(",") > _MOST_VALUES:
        raise FormatError(f"{place}: has more than {_MOST_VALUES} values, the most that are read")
    try:
        return json.loads(text, parse_constant=refuse)
    except json.JSONDecodeError as error:
        message = error.msg[:1].lower() + error.msg[1:]
        raise FormatError(f"{place}:{error.lineno}:{error.colno}: not JSON: {message}") from error
    except RecursionError as error:
        raise FormatError(f"{place}: not readable: nested too deeply") from error


def parse_toml(text: str, place: str) -> dict[str, Any]:
    """The TOML document; FormatError `place:line:column: …` where the text is not TOML.

    Also where it is too large, or nested too deep, for what reads it.
    """
    _check_depth(text, place)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"^(.*) \(at line (\d+), column (\d+)\)$", str(error), re.DOTALL)
        at, message = (f":{found[2]}:{found[3]}", found[1]) if found else ("", str(error))
        message = message[:1].lower() + message[1:]
        raise FormatError(f"{place}{at}: not TOML: {message}") from error


# Strings and comments, which are passed over, and what a depth is counted by. A string that is not
# ended ends with its line: the reader refuses it.
_TOKEN = re.compile(
    r"""(?P<skip>\#[^\n]*
      | \"\"\"(?:[^"\\]|\\.|"(?!""))*(?:\"\"\"|\Z) | '''(?:[^']|'(?!''))*(?:'''|\Z)
      | "(?:[^"\\\n]|\\.)*"? | '[^'\n]*'?)
    | (?P<mark>[\[\]{}.\n=,])""",
    re.VERBOSE | re.DOTALL,
)


def _check_depth(text: str, place: str) -> None:
    if len(text) > _MOST_TOML_BYTES:
        raise FormatError(
            f"{place}: has more than {_MOST_TOML_BYTES} characters, the most that a TOML file may "
            "have here"
        )
    depth = parts = 0
    for found in _TOKEN.finditer(text):
        mark = found["mark"]
        if mark is None:
            continue
        parts = parts + 1 if mark == "." else 0
        depth = max(0, depth + (mark in "[{") - (mark in "]}"))
        wrong = ""
        if depth > _MOST_DEPTH:
            wrong = f"nested more than {_MOST_DEPTH} deep"
        elif parts >= _MOST_DEPTH:
            wrong = f"a key of more than {_MOST_DEPTH} parts"
        if wrong:
            line = text.count("\n", 0, found.start()) + 1
            column = found.start() - text.rfind("\n", 0, found.start())
            raise FormatError(f"{place}:{line}:{column}: not TOML: {wrong}")


def to_json(document: Any) -> str:
    """Two spaces of indentation, keys in their order, a newline at the end; NaN is refused."""
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def pointer_of(path: Sequence[str | int]) -> str:
    """The JSON pointer (RFC 6901) of a path; "/" stands for the whole document in messages."""
    return "".join("/" + str(x).replace("~", "~0").replace("/", "~1") for x in path) or "/"


def resolve_pointer(document: Any, pointer: str) -> Any:
    """The value at a JSON pointer (RFC 6901); LookupError where there is none."""
    value = document
    for token in pointer.split("/")[1:]:
        key = token.replace("~1", "/").replace("~0", "~")
        if isinstance(value, list):
            if not key.isdecimal():
                raise LookupError(pointer)
            value = value[int(key)]
        elif isinstance(value, dict):
            value = value[key]
        else:
            raise LookupError(pointer)
    return value


@functools.cache
def schema(name: str) -> dict[str, Any]:
    """The JSON schema docs/formats/NAME.schema.json."""
    path = FORMATS / f"{name}.schema.json"
    document = parse_json(read_text(path), str(path))
    assert isinstance(document, dict)
    return document


def check(
    document: Any, schema_name: str, place: str, toml_text: str | None = None, version: int = 1
) -> None:
    """Raises FormatError for the first place where the document does not follow the schema.

    With the text of a TOML file, the message names the line; else the JSON pointer.
    """
    if isinstance(document, dict) and "version" in document and document["version"] != version:
        raise FormatError(
            f"{place}: version {document['version']!r} cannot be read; this program reads "
            f"version {version}"
        )
    validator = jsonschema.Draft202012Validator(schema(schema_name))
    errors = sorted(validator.iter_errors(document), key=_importance)
    if not errors:
        return
    error = errors[0]
    path, message = _explain(error)
    if toml_text is None:
        raise FormatError(f"{place}: {pointer_of(path)}: {message}")
    line = find_line(toml_text, path)
    where = place if line is None else f"{place}:{line}"
    raise FormatError(f"{where}: {message}")


def _importance(error: jsonschema.ValidationError) -> tuple[bool, list[str]]:
    """Unknown fields first: a misspelt field is missing too."""
    return error.validator != "additionalProperties", [str(x) for x in error.absolute_path]


def _explain(error: jsonschema.ValidationError) -> tuple[list[str | int], str]:
    """The path of the offending value and one line about it."""
    path: list[str | int] = list(error.absolute_path)
    last = next((str(x) for x in reversed(path) if isinstance(x, str)), "document")
    given: Any = error.instance
    if error.validator == "additionalProperties" and isinstance(error.schema, Mapping):
        known = sorted(error.schema.get("properties", {}))
        unknown = sorted(set(given) - set(known))
        if unknown and known:
            where = f" in [{last}]" if path else ""
            return (
                [*path, unknown[0]],
                f"unknown field '{unknown[0]}'{where}; known are {', '.join(known)}",
            )
    wanted: Any = error.validator_value
    if error.validator == "required":
        missing = [x for x in wanted if x not in given]
        where = f" in [{last}]" if path else ""
        return path, f"missing field '{missing[0]}'{where}"
    if error.validator == "type":
        kinds = wanted if isinstance(wanted, str) else " or ".join(wanted)
        return path, f"'{last}' must be of type {kinds}, not {_short(error.instance)}"
    if error.validator == "enum":
        return path, f"'{last}' must be one of {', '.join(wanted)}, not " + _short(error.instance)
    return path, f"'{last}': {_short_text(error.message)}"


def _short(value: Any) -> str:
    return _short_text(json.dumps(value, ensure_ascii=False, default=str))


def _short_text(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 120 else line[:117] + "..."


_HEADER = re.compile(r"^\s*(\[\[?)\s*([^\[\]]+?)\s*\]\]?\s*(#.*)?$")
_KEY = re.compile(r"""^\s*(?:"([^"]*)"|'([^']*)'|([A-Za-z0-9_.-]+))\s*=""")


def find_line(text: str, path: Sequence[str | int]) -> int | None:
    """The line (1-based) of a TOML document that defines the value at `path`, or a parent of it.

    Best effort: a scan of headers and keys that does not look into multi-line values.
    """
    best: tuple[int, int | None] = (0, None)
    table: list[str | int] = []
    seen: dict[str, int] = {}

    def consider(here: Sequence[str | int], line: int) -> None:
        nonlocal best
        depth = len(here)
        if list(path[:depth]) == list(here) and depth > best[0]:
            best = (depth, line)

    for number, line in enumerate(text.splitlines(), 1):
        if header := _HEADER.match(line):
            table = []
            keys = [key.strip().strip("\"'") for key in header[2].split(".")]
            for index, key in enumerate(keys):
                table.append(key)
                name = pointer_of(table)
                if header[1] == "[[" and index == len(keys) - 1:
                    seen[name] = seen.get(name, -1) + 1
                if name in seen:
                    table.append(seen[name])
            consider(table, number)
        elif found := _KEY.match(line):
            quoted = found[1] or found[2]
            consider([*table, *([quoted] if quoted else found[3].split("."))], number)
    return best[1]
