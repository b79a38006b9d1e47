# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Experiment files: what is refused, where and how; and that documented defaults are real."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from conftest import HERE, Harness

from tandem.errors import FormatError
from tandem.experiment import parts
from tandem.experiment.cli import main
from tandem.experiment.definition import read_experiment
from tandem.experiment.parts import expand, points_of
from tandem.formats.documents import schema
from tandem.formats.published import read_published
from tandem.paths import EXPERIMENTS, PAPER, PUBLISHED

TINY = (HERE / "tiny.toml").read_text()
VALUES = read_published(HERE / "published.toml")


def line_of(text: str, needle: str) -> int:
    return next(i for i, x in enumerate(text.splitlines(), 1) if needle in x)


@pytest.mark.parametrize(
    ("old", "new", "where", "message"),
    [
        ('unit = "ms"', 'unti = "ms"', "unti", "unknown field 'unti' in [metric]"),
        ("repetitions = 3", "repetitons = 3", "repetitons", "unknown field 'repetitons' in [run]"),
        ("repetitions = 3", 'repetitions = "3"', "repetitions", "must be of type integer"),
        ("repetitions = 3", "repetitions = 0", "repetitions", "less than the minimum of 1"),
        ('title = "Tiny', 'titel = "Tiny', "titel", "unknown field 'titel'"),
        ('source = "wall"', 'source = "well"', '"well"', "must be one of wall, cpu, json, regex"),
        ('"{variant}", "{thr', '"{varient}", "{thr', "{varient}", "unknown placeholder {varient}"),
        ('"{variant}", "{thr', '"{variant", "{thr', '"{variant",', "for braces"),
        ("values = [1, 2, 4]", "values = [1, 2, 2]", "2, 2]", "non-unique"),
        ("threads = [2, 4]", "threads = [2, 3]", "[2, 3]", "axis 'threads' has no value 3"),
        (
            "threads = [2, 4]",
            "threads = [1]",
            "at = {",
            "the baseline of variant=plain threads=2 is",
        ),
        ("'^units: (\\d+)$'", "'^units: \\d+$'", "'^units", "needs one group, not 0"),
        ("'^units: (\\d+)$'", "'^units: (\\d+$'", "'^units", "not a regular expression"),
        ('name = "work_', 'name = "', None, None),
        ('table = "made-up.table"', 'table = "x"', 'table = "x"', "unknown table 'x'"),
        ('column = "time"', 'column = "tim"', '"tim"', "has no column 'tim'; it has time"),
        ('keys = { cores = "threads" }', "", "[[published]]", "key 'cores' of table"),
        ('over = "threads"', 'over = "thread"', '"thread"', "unknown axis 'thread'"),
        ('source = "cpu"', 'source = "cpu"\npointer = "/x"', '"/x"', "no meaning for source cpu"),
        ('pointer = "/seconds"', "", "[[metric]]", "needs 'pointer'"),
        ('name = "cpu"', 'name = "wall"', None, "two metrics named 'wall'"),
        ('name = "threads"', 'name = "round"', '"round"', "already a placeholder"),
        ('series = "variant"', "", "[[plot]]", "where axis 'variant' goes"),
        ("version = 1", "version = 2", None, "version 2 cannot be read"),
    ],
)
def test_mistakes_are_refused_with_their_line(
    tmp_path: Path, old: str, new: str, where: str | None, message: str | None
) -> None:
    if message is None:
        return
    assert old in TINY
    file = tmp_path / "x.toml"
    text = TINY.replace(old, new, 1)
    file.write_text(text)
    with pytest.raises(FormatError) as caught:
        read_experiment(file, VALUES)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    if where is not None:
        assert str(caught.value).startswith(f"{file}:{line_of(text, where)}: ")


def test_syntax_errors_have_line_and_column(tmp_path: Path, harness: Harness) -> None:
    file = tmp_path / "x.toml"
    file.write_text("version = 1\ntitle = oops\n")
    done = harness("run", file)
    assert done.returncode == 2
    assert done.stderr.startswith(f"tandem experiment: {file}:2:9: not TOML: ")
    assert len(done.stderr.splitlines()) == 1


def test_points_are_the_product_without_the_excluded() -> None:
    experiment = read_experiment(HERE / "tiny.toml", VALUES)
    assert [tuple(x.values()) for x in points_of(experiment)] == [
        ("plain", 1),
        ("fast", 1),
        ("fast", 2),
        ("fast", 4),
    ]


def test_templates() -> None:
    assert expand("{a}-{{{b}}}", {"a": 1, "b": True}) == "1-{true}"
    with pytest.raises(KeyError):
        expand("{c}", {"a": 1})


@pytest.mark.parametrize(
    ("kind", "where"),
    [
        (parts.Build, ("build",)),
        (parts.Run, ("run",)),
        (parts.Axis, ("axis", "items")),
        (parts.Metric, ("metric", "items")),
        (parts.Baseline, ("baseline",)),
        (parts.Plot, ("plot", "items")),
    ],
)
def test_the_documented_defaults_are_the_real_ones(kind: type, where: tuple[str, ...]) -> None:
    described = schema("experiment")["properties"]
    for name in where:
        described = described[name]
    required = set(described["required"]) if "required" in described else set()
    assert dataclasses.is_dataclass(kind)
    fields = {("from" if x.name == "origin" else x.name): x for x in dataclasses.fields(kind)}
    assert set(fields) == set(described["properties"])
    for name, field in fields.items():
        has_default = field.default is not dataclasses.MISSING
        assert has_default == (name not in required)
        documented = described["properties"][name].get("default")
        if has_default and documented is not None:
            real = list(field.default) if isinstance(field.default, tuple) else field.default
            assert (real or documented) == documented


@pytest.mark.parametrize(
    "path",
    sorted(x for x in EXPERIMENTS.glob("*.toml") if x not in (PUBLISHED, PAPER)),
    ids=lambda x: x.stem,
)
def test_the_projects_experiments_are_valid(path: Path) -> None:
    experiment = read_experiment(path, read_published(PUBLISHED))
    assert len(points_of(experiment)) >= 2
    assert experiment.paper


@pytest.mark.parametrize(
    "path", sorted((EXPERIMENTS.parent / "bench").glob("*/*.toml")), ids=lambda x: x.stem
)
def test_the_benchmarks_are_valid(path: Path) -> None:
    assert points_of(read_experiment(path, read_published(PUBLISHED)))


def test_list_names_them_all(harness: Harness) -> None:
    done = harness("list", "--json", "-")
    assert done.returncode == 0
    names = [x["name"] for x in json.loads(done.stdout)["experiments"]]
    assert names == sorted(
        x.stem for x in EXPERIMENTS.glob("*.toml") if x not in (PUBLISHED, PAPER)
    )
    assert "lockstm-figure6" in harness("list").stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "nothing"], "unknown experiment 'nothing'; name a .toml file or one of: "),
        (["run", "no/such.toml"], "no/such.toml: cannot be read: no such file or directory"),
        (["run"], "missing argument 'EXPERIMENT'; see tandem experiment --help"),
        (["run", "x", "--reps", "0"], "invalid value for '--reps'"),
        (["fly"], "no such command 'fly'"),
        (["run", "x", "--colour"], "no such option"),
        (["run", "lockstm-figure6", "--set", "x=1"], "with a parameter of lockstm-figure6"),
        (["run", "lockstm-figure6", "--set", "numbers=x"], "--set numbers: 'x' is not a int"),
        (["run", "lockstm-figure6", "--only", "threads=3"], "'3' is none of its values: 1, 2, 4"),
        (["run", "lockstm-figure6", "--only", "threads=2"], "leaves out the baseline"),
        (["run", "lockstm-figure6", "--results", "/proc/x"], "cannot be written"),
        (["show", "no.json"], "no.json: cannot be read"),
    ],
)
def test_mistakes_on_the_command_line(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    arguments: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    output, errors = capsys.readouterr()
    assert output == ""
    assert errors.startswith("tandem experiment: ")
    assert message.lower() in errors.lower()
    assert len(errors.splitlines()) == 1
    assert not list(tmp_path.iterdir())
