# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The readers, the published values, the pictures, and the package's public names."""

from __future__ import annotations

import importlib
import inspect
import json
import pkgutil
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from conftest import HERE, Harness
from jsonschema import Draft202012Validator

import tandem
import tandem.experiment
import tandem.formats
from tandem.errors import FormatError, TandemError
from tandem.experiment.definition import read_experiment
from tandem.experiment.host import commit_of, parse_cpuinfo
from tandem.experiment.plots import draw, spread_labels
from tandem.formats import read_profile, read_published, read_report, read_result
from tandem.formats.documents import find_line, resolve_pointer
from tandem.formats.result import result_from_json, result_to_json
from tandem.paths import FORMATS, PUBLISHED

OURS = ["tandem.errors", "tandem.paths", "tandem.statistics"] + [
    x.name
    for package in (tandem.experiment, tandem.formats)
    for x in pkgutil.iter_modules(package.__path__, package.__name__ + ".")
    if not x.name.endswith("__main__")
]


@pytest.mark.parametrize("name", ["tandem", "tandem.formats", *OURS])
def test_all_lists_the_public_names(name: str) -> None:
    module = importlib.import_module(name)
    listed = list(module.__all__)
    assert len(set(listed)) == len(listed)
    for symbol in listed:
        assert hasattr(module, symbol)
    defined = {
        symbol
        for symbol, value in vars(module).items()
        if (inspect.isclass(value) or inspect.isfunction(value))
        and value.__module__ == name
        and not symbol.startswith("_")
    }
    unlisted = defined - set(listed)
    commands = (
        {"run", "list_", "show", "paper", "record", "quote"}
        if name == "tandem.experiment.cli"
        else set()
    )
    assert unlisted <= commands


def test_one_tree_of_exceptions() -> None:
    errors = [getattr(tandem.errors, x) for x in tandem.errors.__all__]
    assert all(issubclass(x, TandemError) for x in errors)
    assert {x.exit_status for x in errors} == {1, 2, 130}


@pytest.mark.parametrize("path", sorted(FORMATS.glob("*.schema.json")), ids=lambda x: x.name)
def test_schemas_are_schemas(path: Path) -> None:
    Draft202012Validator.check_schema(json.loads(path.read_text()))


@pytest.fixture
def result_text(tiny: Harness, tmp_path: Path) -> str:
    assert tiny("--reps", "2").returncode == 0
    return (tmp_path / "tiny.json").read_text()


def test_a_result_survives_reading_and_writing(result_text: str) -> None:
    result = result_from_json(result_text, "x")
    assert result_to_json(result) == result_text
    frame = result.frame()
    assert len(frame) == 8
    assert frame.groupby(["variant", "threads"])["metric.seconds"].median()["fast", 2] == 90


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda x: x | {"version": 9}, "version 9 cannot be read; this program reads version 1"),
        (lambda x: x | {"extra": 1}, "/extra: unknown field 'extra'"),
        (lambda x: {k: v for k, v in x.items() if k != "seed"}, "missing field 'seed'"),
        (lambda x: x | {"seed": "a"}, "/seed: 'seed' must be of type integer"),
        (
            lambda x: x | {"points": [x["points"][0] | {"samples": x["points"][0]["samples"][:1]}]},
            "/points/0/summaries/seconds: does not fit its samples",
        ),
    ],
)
def test_a_result_that_is_none_is_refused(result_text: str, edit, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(FormatError) as caught:
        result_from_json(json.dumps(edit(json.loads(result_text))), "r.json")
    assert str(caught.value).startswith("r.json: ")
    assert message in str(caught.value)


def test_text_that_is_no_json_is_refused_with_its_place() -> None:
    with pytest.raises(FormatError, match=r"^r\.json:2:1: not JSON: "):
        result_from_json("{\n", "r.json")
    with pytest.raises(FormatError, match="NaN is not JSON"):
        result_from_json('{"version": NaN}', "r.json")


def test_show_prints_a_result_again_and_draws_it(
    harness: Harness, result_text: str, tmp_path: Path
) -> None:
    done = harness("show", tmp_path / "tiny.json", "--plots", tmp_path / "plots")
    assert done.returncode == 0, done.stderr
    assert "Tiny: a made-up program" in done.stdout
    names = sorted(x.name for x in (tmp_path / "plots").iterdir())
    assert names == [
        f"tiny-{plot}.{kind}" for plot in ("bars", "time") for kind in ("pdf", "png", "svg")
    ]


def test_plots_name_their_series_and_mark_what_is_published(
    result_text: str, tmp_path: Path
) -> None:
    paths = draw(result_from_json(result_text, "x"), tmp_path)
    by_name = {x.name: x for x in paths}
    for path in paths:
        if path.suffix == ".png":
            assert path.read_bytes().startswith(b"\x89PNG")
    for name in ("tiny-time.svg", "tiny-bars.svg"):
        texts = {
            "".join(x.itertext()).strip()
            for x in ElementTree.parse(by_name[name]).iter("{http://www.w3.org/2000/svg}text")
        }
        assert {"plain", "fast one", "published", "threads"} <= texts
    again = draw(result_from_json(result_text, "x"), tmp_path / "again")
    assert [x.read_bytes() for x in paths] == [x.read_bytes() for x in again]


def test_labels_keep_their_distance_and_order() -> None:
    assert spread_labels([5, 1], 1, 0, 10) == [5, 1]
    assert spread_labels([5, 5, 5], 1, 0, 10) == [5, 6, 7]
    assert spread_labels([10, 10], 2, 0, 10) == [8, 10]


def test_published_values_are_read_with_their_places() -> None:
    published = read_published(PUBLISHED)
    table = published.tables["lockstm.figure8"]
    rows = {row[:3]: table.value_of(row, "seconds") for row in table.rows}
    assert rows["kmeans", "tl2", 4] == 14.3
    assert rows["vacation", "lockpick", 2] == 42.9
    assert ("bayes", "sequential", 2) not in rows
    restarts = published.tables["metatm.table6"]
    (find,) = [x for x in restarts.rows if x[0] == "find"]
    assert restarts.value_of(find, "restart_rate") == 10.2
    # Restart rates follow from the counts beside them (section 6.2 of the paper).
    for row in restarts.rows:
        total, again = (restarts.value_of(row, x) for x in ("transactions", "restarts"))
        rate = 100 * float(again) / (float(again) + float(total))
        assert rate == pytest.approx(float(restarts.value_of(row, "restart_rate")), abs=0.06)
    assert all(x.place for x in published.statements.values())


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('["fast", 2, 150.0]', '["fast", 2]', "a row has 2 entries, not 3"),
        ('["fast", 2, 150.0]', '["fast", 1, 150.0]', "two rows have the same keys"),
        ('paper = "made-up"\nplace = "Table', 'paper = "x"\nplace = "Table', "no known paper"),
        ("units = {", "unit = {", "unknown field 'unit' in [table]"),
    ],
)
def test_published_values_are_checked(tmp_path: Path, old: str, new: str, message: str) -> None:
    text = (HERE / "published.toml").read_text()
    assert old in text
    file = tmp_path / "p.toml"
    file.write_text(text.replace(old, new))
    with pytest.raises(FormatError) as caught:
        read_published(file)
    assert re.match(rf"{re.escape(str(file))}:\d+: ", str(caught.value))
    assert message in str(caught.value)


def test_statements_must_exist(tmp_path: Path) -> None:
    file = tmp_path / "x.toml"
    text = (HERE / "tiny.toml").read_text()
    published = read_published(HERE / "published.toml")
    file.write_text(text.replace("[parameters]", 'statements = ["made-up.says"]\n[parameters]'))
    assert read_experiment(file, published).statements == ("made-up.says",)
    file.write_text(text.replace("[parameters]", 'statements = ["made-up.said"]\n[parameters]'))
    with pytest.raises(FormatError, match=r"x\.toml:\d+: unknown statement 'made-up\.said'"):
        read_experiment(file, published)


def example(name: str, tmp_path: Path) -> Path:
    """The JSON example at the end of a format's page."""
    found = re.findall(r"```json\n(.*?)```", (FORMATS / f"{name}.md").read_text(), re.DOTALL)
    file = tmp_path / f"{name}.json"
    file.write_text(found[-1])
    return file


def test_a_report_is_read(tmp_path: Path) -> None:
    report = read_report(example("report", tmp_path))
    assert report.sections
    assert {x.class_ for x in report.sections} <= {"non-revocable", "hybrid", "pure"}
    assert all(isinstance(x.on, tuple) for s in report.sections for x in s.conflicts)


def test_a_profile_is_read(tmp_path: Path) -> None:
    profile = read_profile(example("profile", tmp_path))
    for section in profile.sections:
        aborts = sum(x.count for x in section.aborts)
        assert section.starts == section.commits + aborts + section.unfinished
    (tmp_path / "profile.json").write_text('{"version": 1}')
    with pytest.raises(FormatError, match=r"profile\.json: "):
        read_profile(tmp_path / "profile.json")


def test_a_result_page_has_an_example_that_is_read(tmp_path: Path) -> None:
    result = read_result(example("result", tmp_path))
    assert result_to_json(result) == (tmp_path / "result.json").read_text()


def test_the_experiment_page_has_an_example_that_is_read(tmp_path: Path) -> None:
    page = (FORMATS / "experiment.md").read_text()
    file = tmp_path / "example.toml"
    file.write_text(re.findall(r"```toml\n(.*?)```", page, re.DOTALL)[0])
    assert read_experiment(file, read_published(PUBLISHED)).plots


def test_pointers() -> None:
    document = {"a/b": [{"~": 1}]}
    assert resolve_pointer(document, "/a~1b/0/~0") == 1
    assert resolve_pointer(document, "") == document
    for bad in ("/x", "/a~1b/1", "/a~1b/-", "/a~1b/0/~0/y"):
        with pytest.raises(LookupError):
            resolve_pointer(document, bad)


def test_lines_of_toml_keys() -> None:
    text = "a = 1\n[t]\nb = 2\n[[l]]\nc = 3\n[[l]]\nc = 4\n[l.d]\ne = 5\n"
    assert find_line(text, ["a"]) == 1
    assert find_line(text, ["t", "b"]) == 3
    assert find_line(text, ["t", "absent"]) == 2
    assert find_line(text, ["l", 1, "c"]) == 7
    assert find_line(text, ["l", 1, "d", "e"]) == 9
    assert find_line(text, ["nowhere"]) is None


def test_rtm_counts_only_where_it_can_commit() -> None:
    text = "processor : 0\nmodel name\t: A CPU @ 1 GHz\nflags\t\t: fpu {} avx\n"
    assert parse_cpuinfo(text.format("rtm")) == ("A CPU @ 1 GHz", True)
    assert parse_cpuinfo(text.format("rtm rtm_always_abort"))[1] is False
    assert parse_cpuinfo(text.format("hle"))[1] is False


def test_a_folder_outside_git_has_no_commit(tmp_path: Path) -> None:
    assert (commit_of(tmp_path).git, commit_of(tmp_path).dirty) == (None, None)
