# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`tandem experiment paper`: runs every experiment of the list and keeps one page up to date.

The page is written before the first experiment and after each, so that an interrupted run leaves
one that says what there is. One experiment that fails leaves its rows undecided; the others run.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from tandem.errors import CheckMissed, FormatError, InterruptedRun, RunError, TandemError
from tandem.experiment.page import Page
from tandem.experiment.parts import Experiment, points_of
from tandem.experiment.plan import Plan
from tandem.experiment.progress import Progress
from tandem.experiment.run import Settings, run_experiment
from tandem.files import write_text
from tandem.formats.published import Published
from tandem.formats.result import Result, read_result

__all__ = ["Campaign", "estimate_s", "run_campaign"]

_NO_ESTIMATE_S = 5.0  # processor time of a sample that nobody has estimated


@dataclass(frozen=True, slots=True)
class Campaign:
    """What is run, and how."""

    plan: Plan
    published: Published
    folder: Path  # results, plots and pages
    source: Path
    build: Path
    quick: bool = False
    resume: bool = False
    counts_only: bool = False  # leave out experiments that measure times, or are too long for that
    only: tuple[str, ...] = ()  # patterns of names; empty: all
    scheduler: str | None = None

    def chosen(self) -> dict[str, Experiment]:
        """The experiments to run, in their order."""
        return {
            name: x
            for name, x in self.plan.experiments.items()
            if (not self.counts_only or self._counts(x))
            and (not self.only or any(fnmatchcase(name, pattern) for pattern in self.only))
        }

    def left_out(self) -> dict[str, str]:
        """Why the others are not run."""
        chosen = self.chosen()
        return {n: self._why_not(x) for n, x in self.plan.experiments.items() if n not in chosen}

    def _why_not(self, experiment: Experiment) -> str:
        if not self.counts_only or self._counts(experiment):
            return "--only leaves it out"
        again = f"tandem experiment paper{' --quick' if self.quick else ''} --resume"
        again += f" --only {experiment.name}"
        if any(metric.is_time for metric in experiment.metrics):
            return f"its figures depend on the load, and --counts leaves it out; `{again}` runs it"
        took = _duration(estimate_s(experiment, self.quick))
        return (
            f"it measures no times, and no verdict depends on the load, but it takes about {took},"
            f" where the whole of --quick --counts has three minutes; `{again}` runs it"
        )

    def _counts(self, experiment: Experiment) -> bool:
        if self.quick and experiment.quick is not None and not experiment.quick.counts:
            return False
        return not any(metric.is_time for metric in experiment.metrics)

    def settings(self, experiment: Experiment) -> Settings:
        target = self.folder / f"{experiment.name}.json"
        return Settings(
            source=self.source,
            build=self.build,
            result=target,
            scheduler=self.scheduler,
            resume=self.resume,
            fresh=not self.resume,
            quick=self.quick,
        )


def estimate_s(experiment: Experiment, quick: bool) -> float:
    """About how long it runs on this machine, in seconds; builds are not in it."""
    short = experiment.quick if quick else None
    each = (short.estimate_s if short else 0) or experiment.run.estimate_s or _NO_ESTIMATE_S
    rounds = (short and short.repetitions) or experiment.run.repetitions
    warm_ups = experiment.run.warm_ups
    if short is not None and short.warm_ups is not None:
        warm_ups = short.warm_ups
    points = len(points_of(experiment, short.only if short else None))
    beside = len(os.sched_getaffinity(0)) if experiment.run.side_by_side else 1
    return each * points * (rounds + warm_ups) / beside


@dataclass(slots=True)
class _Clock:
    """What is left of the estimates, corrected by how wrong they were so far."""

    left: dict[str, float]
    spent: float = 0.0
    foreseen: float = 0.0
    began: float = field(default_factory=time.monotonic)

    def start(self) -> None:
        self.began = time.monotonic()

    def done(self, name: str, measured: bool) -> None:
        expected = self.left.pop(name)
        if measured:
            self.spent += time.monotonic() - self.began
            self.foreseen += expected

    def remaining(self) -> float:
        factor = self.spent / self.foreseen if self.foreseen else 1.0
        return sum(self.left.values()) * factor


def run_campaign(campaign: Campaign, progress: Progress) -> Page:
    """Runs what is to be run; the page is written in every case.

    CheckMissed where a check that should be met differs, RunError where an experiment failed.
    """
    chosen = campaign.chosen()
    page = Page(campaign.plan, campaign.published, campaign.quick, campaign.left_out())
    page.earlier(_earlier(campaign, set(chosen)))
    clock = _Clock({x.name: estimate_s(x, campaign.quick) for x in chosen.values()})
    progress.note(f"{len(chosen)} experiments, about {_duration(clock.remaining())}")
    _write(campaign, page)
    for number, (name, experiment) in enumerate(chosen.items(), 1):
        if campaign.resume and _is_done(campaign, experiment, page.results.get(name)):
            progress.note(f"[{number}/{len(chosen)}] {name}: done before")
            clock.done(name, measured=False)
            continue
        progress.note(
            f"[{number}/{len(chosen)}] {name}: {experiment.title}; "
            f"about {_duration(clock.remaining())} left"
        )
        clock.start()
        try:
            result = run_experiment(
                experiment, campaign.published, campaign.settings(experiment), progress
            )
        except KeyboardInterrupt as error:
            raise InterruptedRun("interrupted; continue with --resume") from error
        except RunError as error:
            page.failed(name, str(error))
            progress.note(f"{name}: failed: {error}")
        else:
            page.add(name, result, _draw(result, campaign.folder))
        clock.done(name, measured=True)
        _write(campaign, page)
    _end(page, progress)
    return page


def _end(page: Page, progress: Progress) -> None:
    progress.note(page.counted())
    missed = [
        f"{name}: {verdict.name}"
        for name, result in page.results.items()
        for verdict in result.verdicts
        if verdict.is_missed
    ]
    if missed:
        raise CheckMissed(f"checks that should be met differ: {'; '.join(missed)}")
    if page.failures:
        name, why = next(iter(page.failures.items()))
        raise RunError(f"{len(page.failures)} experiments failed: {name}: {why}")


def _earlier(campaign: Campaign, chosen: set[str]) -> Mapping[str, tuple[Result, list[Path]]]:
    """Results that stay: all of them with --resume, else those that are not run again."""
    found: dict[str, tuple[Result, list[Path]]] = {}
    for name in campaign.plan.experiments:
        path = campaign.folder / f"{name}.json"
        if not path.exists() or (name in chosen and not campaign.resume):
            continue
        try:
            result = read_result(path)
            found[name] = (result, _draw(result, campaign.folder))
        except FormatError:
            continue  # of another version, or half of another program's file: it is run again
    return found


def _is_done(campaign: Campaign, experiment: Experiment, result: Result | None) -> bool:
    journal = campaign.settings(experiment).journal
    if result is None or journal.exists():
        return False
    return (
        result.experiment["sha256"] == experiment.sha256
        and bool(result.configuration.get("quick", False)) == campaign.quick
    )


def _draw(result: Result, folder: Path) -> list[Path]:
    from tandem.experiment.plots import draw  # matplotlib takes a second to load

    try:
        return draw(result, folder)
    except TandemError:
        raise
    except ValueError as error:
        raise RunError(f"{result.experiment['name']}: cannot be drawn: {error}") from error


def _write(campaign: Campaign, page: Page) -> None:
    write_text(campaign.folder / "paper.md", page.markdown())
    write_text(campaign.folder / "paper.html", page.html(campaign.folder))


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(round(seconds), 1)} s"
    return f"{round(seconds / 60)} min"
