# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""All rows on one page: states, verdicts, what is missing, resuming, samples side by side."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import HERE, Harness

from tandem.experiment.paper import Campaign, estimate_s
from tandem.experiment.plan import read_plan
from tandem.formats import read_result
from tandem.formats.published import read_published
from tandem.paths import PAPER, PUBLISHED

PROGRAM = """
import json, os, sys, time
log, n, wait = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
with open(log, "a") as stream:
    stream.write(f"begin {n}\\n")
time.sleep(wait)
with open(log, "a") as stream:
    stream.write(f"end {n}\\n")
print(json.dumps({"count": 10 * n} if n < 3 else {}))
"""

EXPERIMENT = """
version = 1
title = "Counts"
[parameters]
wait = 0.0
[[axis]]
name = "n"
values = [1, 2, 3]
[run]
command = ["python3", "{source}/program.py", "{source}/log", "{n}", "{wait}"]
repetitions = 1
warm_ups = 0
side_by_side = true
[quick]
only = { n = [1, 2] }
[[metric]]
name = "count"
source = "json"
pointer = "/count"
optional = true
[[expect]]
name = "ten of one"
check = 'value("count", n=1) == 10'
statement = "made-up.says"
[[expect]]
name = "ten of two"
check = 'value("count", n=2) == 10'
known = "differs"
why = "two are twenty"
[[expect]]
name = "three"
check = 'value("count", n=3) == 30'
[[plot]]
name = "bars"
kind = "bar"
x = "n"
metric = "count"
"""

PLAN = """
version = 1
[[row]]
id = "made-up.one"
paper = "made-up"
place = "Figure 1"
title = "what is met"
experiment = "counts"
plots = ["bars"]
metrics = ["count"]
checks = ["ten of one"]
tables = ["made-up.table"]
subject = "it is made up | on purpose"
[[row]]
id = "made-up.two"
paper = "made-up"
place = "Figure 2"
title = "what differs"
experiment = "counts"
checks = ["ten of one", "ten of two"]
[[row]]
id = "made-up.three"
paper = "made-up"
place = "Figure 3"
title = "what cannot be told"
experiment = "counts"
checks = ["three"]
[[row]]
id = "made-up.four"
paper = "made-up"
place = "Figure 4"
title = "what is <missing>"
statements = ["made-up.says"]
missing = "nobody has made it"
"""


@pytest.fixture
def paper(harness: Harness, tmp_path: Path) -> Harness:
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "counts.toml").write_text(EXPERIMENT)
    (tmp_path / "paper.toml").write_text(PLAN)

    def call(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        return harness("paper", *options(tmp_path), *arguments)

    return call


def options(folder: Path) -> list[str]:
    return [
        "--plan",
        str(folder / "paper.toml"),
        "--published",
        str(HERE / "published.toml"),
        "--source",
        str(folder),
        "--results",
        str(folder / "out"),
    ]


def states(page: str) -> dict[str, str]:
    """Of the first table: state by row."""
    rows = (line.split(" | ") for line in page.splitlines() if line.startswith("| made-up."))
    return {cells[0].removeprefix("| "): cells[3] for cells in rows}


def test_every_row_has_its_state_and_what_it_is_made_of(paper: Harness, tmp_path: Path) -> None:
    done = paper()
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "out" / "paper.md").read_text()
    assert states(page) == {
        "made-up.one": "met",
        "made-up.two": "differs",
        "made-up.three": "undecided",
        "made-up.four": "not yet",
    }
    assert "4 tables and figures: 1 met, 1 differs, 1 undecided, 1 not yet." in page
    assert "4 tables and figures: 1 met, 1 differs, 1 undecided, 1 not yet" in done.stderr
    assert "| “it is faster” (section 9) | ten of one | 10 = 10 | met |" in page
    assert "20 = 10 | differs | two are twenty |" in page
    assert "it is made up | on purpose" in page
    assert "Not yet: nobody has made it" in page
    assert "tandem experiment run counts\n" in page
    assert "![made-up.one: what is met](counts-bars.svg)" in page
    assert "| PLAIN | 1 | 300 |" in page
    html = (tmp_path / "out" / "paper.html").read_text()
    assert html.count("data:image/svg+xml;base64,") == 1
    assert "what is &lt;missing&gt;" in html
    assert "<missing>" not in html
    assert '<a href="#made-up.four">' in html
    assert 'id="made-up.four"' in html
    for kind in ("svg", "png", "pdf"):
        assert (tmp_path / "out" / f"counts-bars.{kind}").stat().st_size > 1000


def test_the_quick_form_says_so_and_takes_what_is_declared(paper: Harness, tmp_path: Path) -> None:
    assert paper("--quick").returncode == 0
    page = (tmp_path / "out" / "paper.md").read_text()
    assert "the quick form" in page
    assert "tandem experiment run counts --quick" in page
    result = read_result(tmp_path / "out" / "counts.json")
    assert [x.at["n"] for x in result.points] == [1, 2]
    assert states(page)["made-up.three"] == "undecided"


def test_some_experiments_alone(paper: Harness, tmp_path: Path) -> None:
    done = paper("--only", "no*")
    assert done.returncode == 2
    assert "no experiment is left to run: counts are in " in done.stderr
    assert not (tmp_path / "out").exists()
    assert paper("--only", "no*", "--only", "c?unts").returncode == 0
    text = EXPERIMENT.replace("only = { n = [1, 2] }", "counts = false")
    (tmp_path / "counts.toml").write_text(text)
    assert paper("--quick", "--counts").returncode == 2
    assert paper("--counts").returncode == 0


def test_what_a_form_leaves_out_is_said_with_the_reason(paper: Harness, tmp_path: Path) -> None:
    long = EXPERIMENT.replace("only = { n = [1, 2] }", "counts = false\nestimate_s = 80")
    (tmp_path / "long.toml").write_text(long)
    timed = EXPERIMENT.replace('source = "json"', 'source = "json"\ndepends_on_load = true')
    (tmp_path / "timed.toml").write_text(timed.replace("side_by_side = true\n", ""))
    plan = PLAN
    for title, name in (("what differs", "long"), ("what cannot be told", "timed")):
        told = f'title = "{title}"\nexperiment = '
        plan = plan.replace(f'{told}"counts"', f'{told}"{name}"')
    (tmp_path / "paper.toml").write_text(plan)
    done = paper("--quick", "--counts")
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "out" / "paper.md").read_text()
    assert "2 experiments are not in this form, and their rows have no result: long, timed." in page
    assert "Not run: it measures no times, and no verdict depends on the load, but" in page
    assert "--quick --resume --only long` runs it" in page
    assert "Not run: its figures depend on the load, and --counts leaves it out;" in page
    assert paper("--quick", "--only", "counts").returncode == 0
    assert "Not run: --only leaves it out." in (tmp_path / "out" / "paper.md").read_text()
    assert paper("--quick").returncode in (0, 1)
    assert "Not run:" not in (tmp_path / "out" / "paper.md").read_text()


def test_the_quick_forms_fit_their_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """By their estimates on two processors, without what is built once."""
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1})
    published = read_published(PUBLISHED)
    plan = read_plan(PAPER, published)
    for counts, most_s in ((False, 15 * 60), (True, 3 * 60)):
        campaign = Campaign(plan, published, HERE, HERE, HERE, quick=True, counts_only=counts)
        chosen = campaign.chosen().values()
        assert len(chosen) >= 6
        assert sum(estimate_s(x, quick=True) for x in chosen) <= most_s


def test_a_check_that_was_met_and_is_missed_is_status_1(paper: Harness, tmp_path: Path) -> None:
    text = EXPERIMENT.replace("n=1) == 10", "n=1) == 11")
    (tmp_path / "counts.toml").write_text(text)
    done = paper()
    assert done.returncode == 1
    assert "checks that should be met differ: counts: ten of one" in done.stderr
    assert states((tmp_path / "out" / "paper.md").read_text())["made-up.one"] == "differs"


def test_an_experiment_that_fails_leaves_its_rows(paper: Harness, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("import sys; sys.exit('no such luck')")
    done = paper()
    assert done.returncode == 1
    assert "1 experiments failed: counts: " in done.stderr
    assert "no such luck" in done.stderr
    page = (tmp_path / "out" / "paper.md").read_text()
    assert states(page)["made-up.one"] == "undecided"
    assert "The experiment failed: " in page


def test_what_is_done_is_not_done_again(paper: Harness, tmp_path: Path) -> None:
    assert paper().returncode == 0
    done = paper("--resume")
    assert done.returncode == 0
    assert "counts: done before" in done.stderr
    assert (tmp_path / "log").read_text().count("begin") == 3
    assert states((tmp_path / "out" / "paper.md").read_text())["made-up.one"] == "met"
    assert paper("--quick", "--resume").returncode == 0  # another form: run again
    assert (tmp_path / "log").read_text().count("begin") == 5


def test_interrupted_it_leaves_a_page_and_continues(paper: Harness, tmp_path: Path) -> None:
    text = EXPERIMENT.replace("wait = 0.0", "wait = 600.0").replace("values = [1", "values = [0, 1")
    text = text.replace('"{wait}"]', '"{wait}"]\nenvironment = { N = "{n}" }')
    (tmp_path / "counts.toml").write_text(text)
    program = PROGRAM.replace("time.sleep(wait)", "time.sleep(wait if n else 0)")
    (tmp_path / "program.py").write_text(program)
    command = [sys.executable, "-m", "tandem.experiment", "paper", *options(tmp_path)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as running:
        journal = tmp_path / "out" / "counts.json.journal"
        while not (journal.exists() and len(journal.read_text().splitlines()) == 2):
            assert running.poll() is None
            time.sleep(0.05)
        running.send_signal(signal.SIGINT)
        _, errors = running.communicate(timeout=120)
    assert running.returncode == 130, errors
    assert "interrupted; continue with --resume" in errors
    assert set(states((tmp_path / "out" / "paper.md").read_text()).values()) == {"not yet"}
    (tmp_path / "program.py").write_text(program.replace("time.sleep(", "abs("))
    done = paper("--resume")
    assert done.returncode == 0, done.stderr
    assert "1 samples from the journal" in done.stderr


def test_samples_without_times_run_side_by_side(paper: Harness, tmp_path: Path) -> None:
    # The first sample ends only when the second has begun.
    program = PROGRAM.replace(
        "time.sleep(wait)",
        "while open(log).read().count('begin') < 2: time.sleep(0.01)",
    )
    (tmp_path / "program.py").write_text(program)
    script = (
        "import os, sys; os.sched_getaffinity = lambda _: {0, 1}; "
        "from tandem.experiment.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    command = [sys.executable, "-c", script, "paper", *options(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ('experiment = "counts"\nplots', "plots"),
        ('checks = ["ten of one"]\ntables', 'checks = ["eleven"]\ntables'),
        ('id = "made-up.two"', 'id = "made-up.one"'),
        ('tables = ["made-up.table"]', 'tables = ["no.table"]'),
        ('missing = "nobody has made it"', ""),
        ('plots = ["bars"]', 'plots = ["lines"]'),
    ],
)
def test_a_list_that_is_wrong_is_refused_before_anything_runs(
    paper: Harness, tmp_path: Path, change: str, message: str
) -> None:
    (tmp_path / "paper.toml").write_text(PLAN.replace(change, message, 1))
    done = paper()
    assert done.returncode == 2
    assert re.search(r"paper\.toml:\d+: ", done.stderr)
    assert not (tmp_path / "log").exists()


def test_the_projects_own_list_is_whole() -> None:
    plan = read_plan(PAPER, read_published(PUBLISHED))
    own = [x for x in plan.rows if not x.beyond]
    assert len(own) == 47
    checks = {(x.experiment, name) for x in plan.rows for name in x.checks}
    for name, experiment in plan.experiments.items():
        for expect in experiment.expects:
            assert (name, expect.name) in checks, f"{name}: '{expect.name}' is in no row"
        assert experiment.quick is not None, f"{name} has no quick form"
    # Only the paper's protocol can meet a sentence of FLASK's.
    for experiment in plan.experiments.values():
        for expect in experiment.expects:
            if expect.statement.startswith("flask."):
                assert "flask-plus" not in expect.check
    assert json.dumps([x.id for x in own]).count("flask.") == 10


def test_on_a_cluster_one_round_uses_all_workers(paper: Harness, tmp_path: Path) -> None:
    from distributed import LocalCluster

    # A sample ends only when another one has begun: two workers must take one round's samples.
    program = PROGRAM.replace(
        "time.sleep(wait)",
        "while open(log).read().count('begin') < 2: time.sleep(0.01)",
    )
    (tmp_path / "program.py").write_text(program)
    with LocalCluster(  # type: ignore[no-untyped-call]
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None,
        host="127.0.0.1",
    ) as cluster:  # fmt: skip
        done = paper("--scheduler", cluster.scheduler_address)
    assert done.returncode == 0, done.stderr
    assert states((tmp_path / "out" / "paper.md").read_text())["made-up.one"] == "met"
