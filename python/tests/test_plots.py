# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pictures: nothing lies on top of anything else, and means are of what they name."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
from conftest import HERE, Harness

from tandem.experiment.definition import read_experiment
from tandem.experiment.plots import figure_of
from tandem.formats import read_result
from tandem.formats.published import read_published

PROGRAM = "import json, sys; print(json.dumps(dict(n=eval(sys.argv[1]) / 8e5)))"
EXPERIMENT = f"""
version = 1
title = "Numbers"
[[axis]]
name = "workload"
values = [1000, 1001, 1002]
[[axis]]
name = "ways"
label = "rows of a set"
values = [1, 2, 2.1, 8]
[[exclude]]
workload = [1002]
ways = [8]
[run]
command = ["python3", "-c", "{PROGRAM}", "{{workload}} * {{ways}}"]
repetitions = 1
warm_ups = 0
side_by_side = true
[[metric]]
name = "n"
source = "json"
pointer = "/n"
ratio = "relative"
[baseline]
at = {{ ways = 2 }}
[[group]]
axis = "workload"
name = "first"
values = [1000]
[[group]]
axis = "workload"
name = "others"
values = [1001, 1002]
[[plot]]
name = "long"
title = "A title as long as the picture is wide"
kind = "bar"
x = "workload"
series = "ways"
metric = "n"
width = "single"
[[plot]]
name = "ratios"
title = "Ratios"
kind = "bar"
x = "workload"
series = "ways"
metric = "n"
y = "ratio"
scale = "log"
reference = "one"
[[plot]]
name = "lines"
kind = "line"
x = "ways"
series = "workload"
metric = "n"
[[plot]]
name = "one"
kind = "line"
x = "ways"
series = "workload"
metric = "n"
only = {{ ways = [2] }}
"""
REFUSED = """
version = 1
title = "What cannot be built"
[[axis]]
name = "variant"
values = ["true", "false"]
labels = { false = "Converted" }
[[axis]]
name = "threads"
values = [1]
[run]
command = [
  "sh", "-c",
  "{variant} && echo '{{\\"n\\": 1}}' || echo '{{\\"outcome\\": \\"refused: no\\"}}'",
]
outcomes = true
repetitions = 1
warm_ups = 0
[[metric]]
name = "n"
source = "json"
pointer = "/n"
[[plot]]
name = "n"
kind = "bar"
x = "threads"
series = "variant"
metric = "n"
[[plot]]
name = "nothing"
kind = "bar"
x = "threads"
series = "variant"
metric = "n"
only = { variant = ["false"] }
"""


def drawn(harness: Harness, folder: Path, text: str) -> dict[str, Any]:
    file = folder / "numbers.toml"
    file.write_text(text)
    published = HERE / "published.toml"
    done = harness("run", file, "--published", published, "--results", folder, "--no-plots")
    assert done.returncode == 0, done.stderr
    experiment = read_experiment(file, read_published(published))
    result = read_result(folder / "numbers.json")
    return {x.name: figure_of(result, experiment, x) for x in experiment.plots}


@pytest.fixture
def figures(harness: Harness, tmp_path: Path) -> dict[str, Any]:
    return drawn(harness, tmp_path, EXPERIMENT)


def test_nothing_lies_on_top_of_anything_else(figures: dict[str, Any]) -> None:
    long = figures["long"]
    (legend,) = long.legends
    assert not legend.get_window_extent().overlaps(long._suptitle.get_window_extent())
    caption = long._supxlabel
    lines = caption.get_text().split("\n")
    box = caption.get_window_extent()
    bottom = box.y0 + box.height * (len(lines) - lines.index("")) / len(lines)
    assert legend.get_window_extent().y1 < bottom
    assert legend.get_title().get_text() == "rows of a set"
    assert [x.get_text() for x in legend.get_texts()] == ["1", "2", "2.1", "8"]
    (axes,) = long.axes
    numbers = [x.get_window_extent() for x in axes.texts]
    assert len(numbers) == 11
    for one, other in itertools.combinations(numbers, 2):
        assert not one.overlaps(other)
    assert max(x.y1 for x in numbers) <= axes.get_window_extent().y1 + 2


def test_ratios_on_a_logarithmic_axis_stand_on_1(figures: dict[str, Any]) -> None:
    (axes,) = figures["ratios"].axes
    bars = [x for x in axes.patches if x.get_height() != 0]
    assert {x.get_y() for x in bars} == {1.0}
    assert min(x.get_height() for x in bars) == pytest.approx(-0.5)
    figures["ratios"].canvas.draw()
    ticks = [x.get_text() for x in axes.get_yticklabels()]
    assert {"0.5", "1.5"} <= set(ticks)
    assert "The axis is logarithmic." in figures["ratios"]._supxlabel.get_text()


def test_means_are_of_the_values_that_they_name(figures: dict[str, Any]) -> None:
    """None of a group of one, nor of a series that lacks one of the group."""
    (axes,) = figures["ratios"].axes
    assert [x.get_text() for x in axes.get_xticklabels()][3:] == ["others", "all"]
    hatched = [x for x in axes.patches if x.get_hatch()]
    assert len(hatched) == 2 * 3  # of 8 ways none


def test_lines_through_one_value_are_bars(figures: dict[str, Any]) -> None:
    (axes,) = figures["lines"].axes
    assert axes.lines
    assert not axes.patches
    (axes,) = figures["one"].axes
    assert not axes.lines
    assert axes.patches


def test_the_caption_names_what_was_refused(harness: Harness, tmp_path: Path) -> None:
    figures = drawn(harness, tmp_path, REFUSED)
    for figure in figures.values():
        assert figure._supxlabel.get_text().splitlines()[-1] == "Refused: Converted"
    assert [x.get_text() for x in figures["n"].axes[0].texts] == ["1"]
    assert not figures["nothing"].axes[0].patches
