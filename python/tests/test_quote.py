# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Documents quote recorded results: the project's own agree; a changed one is seen."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import HERE, Harness

from tandem.errors import FormatError
from tandem.experiment.quote import quoted
from tandem.paths import ROOT

DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
QUOTE = """before
<!-- quote
record = "r.json"
metric = "time"
over = { variant = "a" }
across = "n"
-->
<!-- /quote -->
after
"""


def record(folder: Path) -> None:
    times = {("a", 1): 2.0, ("a", 2): 4.0, ("b", 1): 4.0, ("b", 2): 2.0, ("c", 1): 6.0}
    points = [{"at": {"variant": v, "n": n}, "values": {"time": t}} for (v, n), t in times.items()]
    (folder / "r.json").write_text(
        json.dumps(
            {
                "version": 1,
                "labels": {"variant": {"b": "B!"}},
                "groups": [{"axis": "n", "name": "small", "values": [1]}],
                "points": points,
            }
        )
    )


def test_a_table_is_geometric_means_over_the_baseline(tmp_path: Path) -> None:
    record(tmp_path)
    (tmp_path / "d.md").write_text(QUOTE)
    text = quoted(tmp_path / "d.md")
    table = [line for line in text.splitlines() if line.startswith("|")]
    assert table == [
        "| variant | small | all |",
        "| --- | --- | --- |",
        "| a | 1.000 | 1.000 |",
        "| B! | 2.000 | 1.000 |",
        "| c | 3.000 | – |",
    ]
    assert text.startswith("before\n<!-- quote")
    assert text.endswith("<!-- /quote -->\nafter\n")
    (tmp_path / "d.md").write_text(text)
    assert quoted(tmp_path / "d.md") == text


def test_a_column_for_each_value(tmp_path: Path) -> None:
    record(tmp_path)
    (tmp_path / "d.md").write_text(QUOTE.replace('across = "n"', 'across = "n"\neach = true'))
    assert [x for x in quoted(tmp_path / "d.md").splitlines() if x.startswith("|")] == [
        "| variant | 1 | 2 | all |",
        "| --- | --- | --- | --- |",
        "| a | 1.000 | 1.000 | 1.000 |",
        "| B! | 2.000 | 0.500 | 1.000 |",
        "| c | 3.000 | – | – |",
    ]


def test_a_document_that_was_changed_by_hand_is_seen(harness: Harness, tmp_path: Path) -> None:
    record(tmp_path)
    path = tmp_path / "d.md"
    path.write_text(QUOTE)
    assert harness("quote", path).returncode == 0
    assert harness("quote", path, "--check").returncode == 0
    path.write_text(path.read_text().replace("2.000", "1.900"))
    done = harness("quote", path, "--check")
    assert done.returncode == 1
    assert "not what its record says" in done.stderr


def test_a_result_becomes_a_record(tiny: Harness, harness: Harness, tmp_path: Path) -> None:
    assert tiny().returncode == 0
    target = tmp_path / "record.json"
    assert harness("record", tmp_path / "tiny.json", "--to", target).returncode == 0
    made = json.loads(target.read_text())
    assert made["experiment"] == "tiny"
    point = next(x for x in made["points"] if x["at"] == {"variant": "fast", "threads": 2})
    assert point["values"]["seconds"] == 120
    assert target.stat().st_size < (tmp_path / "tiny.json").stat().st_size / 2


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("r.json", "no.json", "no.json: cannot be read"),
        ('across = "n"', 'across = "m"', "has the axes variant, n"),
        ('metric = "time"\n', "", "a quote has the fields"),
        ('variant = "a"', 'variant = "z"', "has no time at"),
    ],
)
def test_mistakes_have_their_place(tmp_path: Path, old: str, new: str, message: str) -> None:
    record(tmp_path)
    (tmp_path / "d.md").write_text(QUOTE.replace(old, new))
    with pytest.raises(FormatError, match=rf"d\.md:2: .*{message}"):
        quoted(tmp_path / "d.md")


@pytest.mark.skipif(not (ROOT / "README.md").exists(), reason="installed without documents")
def test_the_projects_documents_say_what_was_recorded() -> None:
    changed = [str(x) for x in DOCUMENTS if quoted(x) != x.read_text(encoding="utf-8")]
    assert changed == []
    assert any("<!-- quote" in x.read_text(encoding="utf-8") for x in DOCUMENTS)
    assert HERE.parent.parent == ROOT


def test_a_table_of_metrics_has_what_the_paper_prints(tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text(
        json.dumps(
            {
                "version": 1,
                "labels": {"variant": {"b": "B!"}},
                "groups": [],
                "titles": {"share": "share (%)", "count": "how many"},
                "points": [
                    {
                        "at": {"variant": "a"},
                        "values": {"share": 6.25, "count": 1234567},
                        "published": {"share": 5.9},
                    },
                    {"at": {"variant": "b"}, "values": {}, "outcome": "refused: why"},
                    {"at": {"variant": "c"}, "values": {"share": 0}},
                ],
            }
        )
    )
    block = QUOTE.replace(
        'metric = "time"\nover = { variant = "a" }\nacross = "n"\n',
        'metrics = ["count", "share"]\n',
    )
    (tmp_path / "d.md").write_text(block)
    assert [x for x in quoted(tmp_path / "d.md").splitlines() if x.startswith("|")] == [
        "| variant | how many | share (%) |",
        "| --- | --- | --- |",
        "| a | 1,234,567 | 6.25 (5.9) |",
        "| B! | refused | refused |",
        "| c | – | 0 |",
    ]
    (tmp_path / "d.md").write_text(block.replace('"count"', '"other"'))
    with pytest.raises(FormatError, match="has no metric 'other'"):
        quoted(tmp_path / "d.md")
