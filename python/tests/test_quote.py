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


def test_points_have_ratios_with_their_spread(tmp_path: Path) -> None:
    record(tmp_path)
    document = json.loads((tmp_path / "r.json").read_text())
    document["titles"] = {"time": "time of all (s)"}
    spreads = [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [0.5, 0.4, 0.6], [2.0]]
    for point, spread in zip(document["points"], spreads, strict=False):
        point["ratios"] = {"time": spread}
    (tmp_path / "r.json").write_text(json.dumps(document))
    (tmp_path / "d.md").write_text(
        '<!-- quote\nrecord = "r.json"\nmetrics = ["time"]\nratios = ["time"]\n-->\n'
        "<!-- /quote -->\n"
    )
    assert [x for x in quoted(tmp_path / "d.md").splitlines() if x.startswith("|")] == [
        "| variant | n | time of all (s) | ratio of time of all |",
        "| --- | --- | --- | --- |",
        "| a | 1 | 2 | 1.00 |",
        "| a | 2 | 4 | 1.00 |",
        "| B! | 1 | 4 | 0.50 (0.40–0.60) |",
        "| B! | 2 | 2 | 2.00 |",
        "| c | 1 | 6 | – |",
    ]


ROWS = """[[row]]
what = "twice {{as}} much"
record = "r.json"
values = [
  'value("time", variant="b", n=1) / value("time", variant="a", n=1)',
  'max(values("time"))',
]
text = "{0:.1f}, {1:.0f} s"
from = "{record} {commit}"

[[row]]
what = "by hand"
text = "none"
from = "a book"
"""


def quote_rows(folder: Path, rows: str) -> list[str]:
    record(folder)
    document = json.loads((folder / "r.json").read_text())
    document["commit"] = {"git": "0123456789abcdef", "dirty": False}
    (folder / "r.json").write_text(json.dumps(document))
    (folder / "rows.toml").write_text(rows)
    (folder / "d.md").write_text(
        '<!-- quote\nrows = "rows.toml"\ncolumns = ["what", "text", "from"]\n-->\n<!-- /quote -->\n'
    )
    return [x for x in quoted(folder / "d.md").splitlines() if x.startswith("|")]


def test_rows_are_written_with_expressions_over_records(tmp_path: Path) -> None:
    assert quote_rows(tmp_path, ROWS) == [
        "| what | text | from |",
        "| --- | --- | --- |",
        "| twice {as} much | 2.0, 6 s | r 0123456 |",
        "| by hand | none | a book |",
    ]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('variant="b", n=1', 'variant="z", n=1', "has no variant 'z'"),
        ('variant="b", n=1', 'variant=["b", "z"], n=1', "has no variant 'z'"),
        ("[[row]]", "[[rows]]", "has other things than"),
        ("text =", "texts =", "'texts' is no column"),
        ("{1:.0f} s", "s", "value 1 is not used"),
        ("{1:.0f} s", "{1.foo}", "cannot be filled in"),
        ("{1:.0f} s", "{1:.0f} | s", "would break the table"),
        ('variant="b", n=1', 'variety="b"', "has no axis 'variety'"),
        ('values("time"))', 'values("speed"))', "has no speed in values"),
        ("max(values", "(values", "is no number"),
        ("{1:.0f}", "{2:.0f}", "cannot be filled in"),
        ('from = "a book"\n', "", "has no text 'from'"),
        ('"r.json"', '"no.json"', "no.json: cannot be read"),
    ],
)
def test_mistakes_in_rows_have_their_place(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    assert old in ROWS
    with pytest.raises(FormatError, match=rf"d\.md:1: .*{message}"):
        quote_rows(tmp_path, ROWS.replace(old, new))


def test_lists_of_other_documents(tmp_path: Path) -> None:
    items = [
        {"name": "x", "kept": ["a", "b"], "seconds": {"stock": 2.0, "own": 3.0}, "share": 0.125},
        {"name": "y", "kept": [], "seconds": {"stock": 0.0}},
    ]
    (tmp_path / "l.json").write_text(json.dumps({"items": items}))
    (tmp_path / "d.md").write_text(
        """<!-- quote
list = "l.json"
at = "/items"
[columns]
"program" = "/name"
"locks" = "/kept"
"ratio" = { value = "/seconds/own", over = "/seconds/stock", digits = 2 }
"share" = { value = "/share", percent = true, digits = 1 }
-->
<!-- /quote -->
"""
    )
    assert [x for x in quoted(tmp_path / "d.md").splitlines() if x.startswith("|")] == [
        "| program | locks | ratio | share |",
        "| --- | --- | --- | --- |",
        "| x | 2 | 1.50 | 12.5 % |",
        "| y | 0 | – | – |",
    ]


def test_a_field_that_no_item_has_is_a_mistake(tmp_path: Path) -> None:
    (tmp_path / "l.json").write_text('{"items": [{"name": "x"}]}')
    (tmp_path / "d.md").write_text(
        '<!-- quote\nlist = "l.json"\nat = "/items"\n[columns]\n"program" = "/nam"\n-->\n'
        "<!-- /quote -->\n"
    )
    with pytest.raises(FormatError, match=r"d\.md:1: 'program': nothing in .* is at /nam"):
        quoted(tmp_path / "d.md")


def test_rows_that_are_restricted_exist(tmp_path: Path) -> None:
    record(tmp_path)
    text = QUOTE.replace('across = "n"', 'across = "n"\nonly = { variant = ["x"] }')
    (tmp_path / "d.md").write_text(text)
    with pytest.raises(FormatError, match="has no variant 'x'"):
        quoted(tmp_path / "d.md")


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
