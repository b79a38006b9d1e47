# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Carries out one experiment: build, warm-ups, interleaved rounds, journal, result.

Round r runs all points in an order that only the seed and r determine, so that a drift of the
machine hits all points alike, and an interrupted run continues with the orders it would have had.
"""

from __future__ import annotations

import contextlib
import random
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tandem.errors import JournalError
from tandem.experiment import host
from tandem.experiment.analyse import EqualityCheck, geometric_means, make_points
from tandem.experiment.executor import (
    DaskExecutor,
    Executor,
    LocalExecutor,
    SideBySideExecutor,
)
from tandem.experiment.journal import Journal, Record, read_journal
from tandem.experiment.parts import (
    At,
    Experiment,
    Quick,
    describe,
    expand,
    key_of,
    points_of,
    shown,
)
from tandem.experiment.progress import Progress
from tandem.experiment.sample import Measured, Task, run_command
from tandem.experiment.verdicts import verdicts_of
from tandem.formats.documents import write_text
from tandem.formats.published import Published, Scalar, Statement
from tandem.formats.result import Result, result_to_json

__all__ = ["Settings", "journal_path", "run_experiment", "shuffled"]


@dataclass(frozen=True, slots=True)
class Settings:
    """What a run may change about an experiment; None takes the file's value."""

    source: Path  # {source}
    build: Path  # {build}
    result: Path  # where the result goes; the journal stands beside it
    work: Path | None = None  # {work}; None: a temporary directory, removed at the end
    repetitions: int | None = None
    warm_ups: int | None = None
    seed: int | None = None
    timeout_s: float | None = None
    parameters: Mapping[str, Scalar] | None = None
    only: Mapping[str, Sequence[Scalar]] | None = None
    scheduler: str | None = None
    resume: bool = False
    fresh: bool = False
    quick: bool = False  # the experiment's [quick], where nothing else is said

    @property
    def journal(self) -> Path:
        return journal_path(self.result)


def journal_path(result: Path) -> Path:
    """The journal of the run that writes `result`."""
    return result.with_name(result.name + ".journal")


def shuffled(points: Sequence[At], seed: int, round_number: int) -> list[At]:
    """The order of a round: a function of seed and round alone."""
    order = list(points)
    random.Random(f"{seed}:{round_number}").shuffle(order)
    return order


def run_experiment(
    experiment: Experiment, published: Published, settings: Settings, progress: Progress
) -> Result:
    """Runs to the end, writes the result; RunError and KeyboardInterrupt leave a valid journal."""
    run = _Run(experiment, published, settings, progress)
    record = run.earlier()
    with _work_directory(experiment, settings) as work, contextlib.ExitStack() as stack:
        run.build(work)
        executor = _executor(experiment, settings)
        stack.callback(executor.close)
        return run.sample(executor, work, record)


def _executor(experiment: Experiment, settings: Settings) -> Executor:
    side_by_side = experiment.run.side_by_side
    if settings.scheduler is not None:
        return DaskExecutor(settings.scheduler, side_by_side=side_by_side)
    return SideBySideExecutor() if side_by_side else LocalExecutor()


@contextlib.contextmanager
def _work_directory(experiment: Experiment, settings: Settings) -> Iterator[Path]:
    if settings.work is not None:
        settings.work.mkdir(parents=True, exist_ok=True)
        yield settings.work.resolve()
        return
    work = Path(tempfile.mkdtemp(prefix=f"tandem-{experiment.name}-"))
    try:
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class _Run:
    def __init__(
        self,
        experiment: Experiment,
        published: Published,
        settings: Settings,
        progress: Progress,
    ) -> None:
        e, s = experiment, settings
        self.experiment = e
        self.published = published
        self.settings = s
        self.progress = progress
        short = e.quick if s.quick and e.quick is not None else Quick({}, {})
        only = {**short.only, **(s.only or {})}
        self.points = points_of(e, only)
        self.repetitions = s.repetitions or short.repetitions or e.run.repetitions
        self.warm_ups = next(
            x for x in (s.warm_ups, short.warm_ups, e.run.warm_ups) if x is not None
        )
        self.seed = e.run.seed if s.seed is None else s.seed
        self.timeout_s = s.timeout_s or e.run.timeout_s
        self.parameters = {**e.parameters, **short.parameters, **(s.parameters or {})}
        self.host = host.this_host()
        self.commit = host.commit_of(s.source)
        self.configuration: dict[str, Any] = {
            "repetitions": self.repetitions,
            "warm_ups": self.warm_ups,
            "timeout_s": self.timeout_s,
            "parameters": self.parameters,
            "axes": {x.name: list(only.get(x.name, x.values)) for x in e.axes},
            "scheduler": s.scheduler,
            "quick": s.quick,
        }

    @property
    def identity(self) -> dict[str, Any]:
        """What must be the same for samples to belong together."""
        stable = {k: v for k, v in self.configuration.items() if k != "scheduler"}
        machine = asdict(self.host)
        del machine["load_1m"]
        return {
            "experiment": self.experiment.sha256,
            "configuration": {**stable, "distributed": self.settings.scheduler is not None},
            "seed": self.seed,
            "commit": asdict(self.commit),
            "host": machine,
        }

    def earlier(self) -> Record | None:
        """The journal to continue; JournalError where one is in the way or does not fit."""
        path = self.settings.journal
        if self.settings.fresh or not path.exists():
            return None
        if not self.settings.resume:
            raise JournalError(
                f"{path}: the journal of an interrupted run; continue it with --resume or start "
                "anew with --fresh"
            )
        record = read_journal(path)
        for name, value in self.identity.items():
            if record.identity.get(name) != value:
                raise JournalError(
                    f"{path}: cannot be continued: the {name} is not the same any more; start anew "
                    "with --fresh"
                )
        return record

    def build(self, work: Path) -> None:
        values = {**self.parameters, **self._places(work)}
        for command in self.experiment.build.commands:
            parts = [expand(x, values) for x in command]
            self.progress.note(f"build: {' '.join(parts)}")
            run_command(parts, {}, self.experiment.build.timeout_s, place="build")

    def sample(self, executor: Executor, work: Path, record: Record | None) -> Result:
        journal_path = self.settings.journal
        equal = EqualityCheck(self.experiment.metrics)
        samples: dict[str, list[Measured]] = {key_of(at): [] for at in self.points}
        labels = {key_of(at): describe(at) for at in self.points}
        for old in record.samples if record else ():
            if old.key in samples and 0 <= old.round < self.repetitions:
                samples[old.key].append(old)
                equal.add(labels[old.key], old.metrics)
        done = {(x.key, x.round) for taken in samples.values() for x in taken}
        rounds = [
            [t for t in self._tasks(number, work) if (t.key, t.round) not in done]
            for number in range(self.repetitions)
        ]
        left = {t.key for tasks in rounds for t in tasks}
        warm = [
            [t for t in self._tasks(-1 - number, work) if t.key in left]
            for number in range(self.warm_ups)
        ]
        started = record.started if record else _now()
        journal = (
            Journal.resume(journal_path, record)
            if record
            else Journal.create(journal_path, self.identity, started)
        )
        total = sum(len(x) for x in rounds)
        self.progress.note(
            f"{len(self.points)} points, {self.repetitions} rounds in an order shuffled by seed "
            f"{self.seed}" + (f"; {len(done)} samples from the journal" if done else "")
        )
        with journal, self.progress.bar(self.experiment.name, total + sum(map(len, warm))) as bar:
            for tasks in warm:
                for taken in executor.warm_up(tasks):
                    equal.add(labels[taken.key], taken.metrics)
                    bar.advance(f"warm-up: {labels[taken.key]}")
            for taken in executor.run([x for x in rounds if x]):
                equal.add(labels[taken.key], taken.metrics)
                journal.add(taken)
                samples[taken.key].append(taken)
                bar.advance(f"round {taken.round + 1}/{self.repetitions}: {labels[taken.key]}")
            result = self._result(samples, started)
            write_text(self.settings.result, result_to_json(result, str(self.settings.result)))
            journal.remove()
        return result

    def _places(self, work: Path) -> dict[str, Scalar]:
        return {
            "source": str(self.settings.source),
            "build": str(self.settings.build),
            "work": str(work),
        }

    def _tasks(self, round_number: int, work: Path) -> list[Task]:
        e = self.experiment
        tasks = []
        for position, at in enumerate(shuffled(self.points, self.seed, round_number)):
            values: dict[str, Scalar] = {
                **self.parameters,
                **self._places(work),
                **at,
                "round": round_number,
                "output": str(work / f"output-{round_number}-{position}"),
            }
            tasks.append(
                Task(
                    key=key_of(at),
                    label=describe(at),
                    round=round_number,
                    position=position,
                    command=tuple(expand(x, values) for x in e.run.command),
                    environment=tuple(
                        (k, expand(v, values)) for k, v in (e.run.environment or {}).items()
                    ),
                    timeout_s=self.timeout_s,
                    metrics=e.metrics,
                    origins=tuple(expand(m.origin, values) for m in e.metrics),
                    output=shown(values["output"]),
                    outcomes=e.run.outcomes,
                )
            )
        return tasks

    def _result(self, samples: Mapping[str, Sequence[Measured]], started: str) -> Result:
        e = self.experiment
        points = make_points(e, self.points, samples, self.published)
        named = [self.published.statements[x] for x in e.statements]
        return Result(
            experiment={
                "name": e.name,
                "title": e.title,
                "paper": e.paper,
                "file": e.file,
                "sha256": e.sha256,
            },
            definition=e.document,
            commit=asdict(self.commit),
            host=asdict(self.host),
            compilers=host.compilers(self.settings.build),
            configuration=self.configuration,
            seed=self.seed,
            started=started,
            finished=_now(),
            points=points,
            geometric_means=geometric_means(e, points),
            verdicts=verdicts_of(e, points, self.host.cores, quick=self.settings.quick),
            statements=tuple(
                Statement(x.id, self.published.papers[x.paper].title, x.place, x.text)
                for x in named
            ),
        )
