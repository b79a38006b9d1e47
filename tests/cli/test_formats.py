# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The report and profile formats: schemas, examples in the documents, what programs write."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from typing import Any

import jsonschema
import pytest
from conftest import DATA, FORMATS, Tandem

Json = dict[str, Any]


def schema(name: str) -> jsonschema.Draft202012Validator:
    text = json.loads((FORMATS / f"{name}.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(text)
    return jsonschema.Draft202012Validator(text)


def example(name: str) -> Json:
    """The one JSON block of the document."""
    blocks = re.findall(r"```json\n(.*?)```", (FORMATS / f"{name}.md").read_text(), re.DOTALL)
    assert len(blocks) == 1
    document: Json = json.loads(blocks[0])
    return document


@pytest.mark.parametrize("name", ["report", "profile"])
def test_the_example_of_the_document_is_valid(name: str) -> None:
    schema(name).validate(example(name))


@pytest.mark.parametrize("name", ["report", "profile"])
def test_the_document_names_every_field(name: str) -> None:
    text = (FORMATS / f"{name}.md").read_text()

    def fields(node: Any) -> set[str]:
        if isinstance(node, list):
            return set().union(*map(fields, node)) if node else set()
        if not isinstance(node, dict):
            return set()
        named = set(node.get("properties", {}))
        return named.union(*(fields(value) for value in node.values()))

    missing = {
        field
        for field in fields(json.loads((FORMATS / f"{name}.schema.json").read_text()))
        if not re.search(rf"`[^`]*\b{field}\b[^`]*`", text)
    }
    assert missing == set()


def test_every_format_is_in_the_list() -> None:
    index = (FORMATS / "README.md").read_text()
    for file in FORMATS.iterdir():
        assert file.name == "README.md" or f"]({file.name})" in index, file.name
    for link in re.findall(r"\]\(([^)#]+)\)", index):
        assert (FORMATS / link).exists(), link


def test_the_example_report_is_readable(tandem: Tandem, tmp_path: Any) -> None:
    file = tmp_path / "example.json"
    file.write_text(json.dumps(example("report")))
    assert "report_progress" in tandem.output("analyze", file)
    again = json.loads(tandem.output("analyze", file, "--json", "-"))
    assert again == example("report")


def test_what_tandem_writes_is_valid(tandem: Tandem) -> None:
    written = json.loads(tandem.output("analyze", DATA / "server.json", "--json", "-"))
    schema("report").validate(written)


def without(*path: str | int) -> Callable[[Json], None]:
    def change(document: Json) -> None:
        node: Any = document
        for step in path[:-1]:
            node = node[step]
        del node[path[-1]]

    return change


def replaced(value: Any, *path: str | int) -> Callable[[Json], None]:
    def change(document: Json) -> None:
        node: Any = document
        for step in path[:-1]:
            node = node[step]
        node[path[-1]] = value

    return change


REPORT_MISTAKES = {
    "version": replaced(2, "version"),
    "no sections": without("sections"),
    "kind": replaced("lock", "sections", 0, "kind"),
    "line": replaced(-1, "sections", 0, "line"),
    "region without lock": without("sections", 0, "lock"),
    "lock of no region": replaced({}, "sections", 1, "lock"),
    "shape": replaced("nested", "sections", 0, "lock", "shape"),
    "mode": replaced("both", "sections", 0, "locks", 0, "mode"),
    "chain": replaced("f", "sections", 1, "irrevocable", 0, "chain"),
    "analysis": replaced("0.1", "analysis", "seconds"),
    "finding": replaced("12", "findings", 0, "line"),
    "read twice is fine, a number is not": replaced([1], "sections", 0, "reads"),
}


@pytest.mark.parametrize("name", REPORT_MISTAKES)
def test_schema_and_reader_refuse_the_same_reports(
    tandem: Tandem, tmp_path: Any, name: str
) -> None:
    document = copy.deepcopy(example("report"))
    REPORT_MISTAKES[name](document)
    assert not schema("report").is_valid(document)
    file = tmp_path / "spoilt.json"
    file.write_text(json.dumps(document))
    assert tandem.mistake("analyze", file).startswith(f"tandem analyze: {file}: ")


PROFILE_MISTAKES = {
    "version": replaced(0, "version"),
    "start": replaced("yesterday", "run", "start"),
    "cause": replaced("bad luck", "sections", 0, "aborts", 0, "cause"),
    "no class": without("sections", 0, "class"),
    "class of a foreign transaction": replaced("pure", "sections", 1, "class"),
    "histogram": replaced([1], "sections", 0, "read_set"),
    "frame": without("sections", 0, "serialisations", 0, "stack", 0, "line"),
    "location": without("sections", 0, "aborts", 0, "location", "symbol"),
    "time": replaced(0.5, "sections", 0, "time", "section_ns"),
}


@pytest.mark.parametrize("name", PROFILE_MISTAKES)
def test_the_profile_schema_refuses(name: str) -> None:
    document = copy.deepcopy(example("profile"))
    PROFILE_MISTAKES[name](document)
    assert not schema("profile").is_valid(document)


def test_the_example_profile_obeys_the_equations() -> None:
    for section in example("profile")["sections"]:
        commits = section["commits"]
        aborts = sum(abort["count"] for abort in section["aborts"])
        assert section["starts"] == commits + aborts + section["unfinished"]
        for name in ("read_set", "write_set", "retries"):
            histogram = section[name]
            assert sum(histogram["counts"]) == commits
            # The largest value lies in the last bucket that is not empty.
            last = len(histogram["counts"]) - 1
            assert histogram["max"].bit_length() == last
            least = sum(n * (1 << k >> 1) for k, n in enumerate(histogram["counts"]))
            most = sum(n * ((1 << k) - 1) for k, n in enumerate(histogram["counts"]))
            assert least <= histogram["sum"] <= most
        serialised = sum(entry["count"] for entry in section["serialisations"])
        assert serialised <= section["starts"]
        time = section["time"]
        assert time["waiting_ns"] + time["irrevocable_ns"] <= time["section_ns"]
