# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One program: built by stock clang with full LTO, by tandem-cc with nothing enforced and a
report, and with what `tandem analyze --suggest` says of the report under each enforcement; run and
compared.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import resource
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tandem.errors import CommandError
from tandem.paths import ROOT
from tandem.statistics import median
from tandem.workload.programs.description import Program
from tandem.workload.programs.sources import acquisitions_below
from tandem.workload.steps import must_run, run, say

__all__ = ["ENFORCEMENTS", "Outcome", "Survey"]

ENFORCEMENTS = ("locks", "stm", "hybrid")
_JOB_LIMIT_S = 600
_MINUTE_S = 60
# Findings that a table of `tandem analyze` does not show without --all, or shows in one line.
_FOLDED = ("possible-race", "hidden-pointer")


@dataclass(slots=True)
class Outcome:
    """What became of one program. CPU times in seconds, medians, by variant and threads."""

    name: str
    sites_in_sources: int = 0
    sites: int = 0
    understood: int = 0
    missed: list[str] = field(default_factory=list)  # sites that were not understood, and why
    findings: dict[str, int] = field(default_factory=dict)
    sections: int = 0
    locks: int = 0  # that the suggestion keeps
    kept: list[str] = field(default_factory=list)  # what the compiler refused of the suggestion
    seconds: dict[str, dict[int, float]] = field(default_factory=dict)
    # Shares of the sections that ran as transactions under hybrid, by threads: in the job, and in
    # what is done after a minute of such work. Absent: no section ran, or not for so long.
    transactions: dict[int, float] = field(default_factory=dict)
    transactions_later: dict[int, float] = field(default_factory=dict)
    # What the threads of clang's build waited for its locks, of its threads' time; by threads.
    waited: dict[int, float] = field(default_factory=dict)
    differ: list[str] = field(default_factory=list)
    failed: str = ""

    @property
    def variants(self) -> list[str]:
        return list(self.seconds)

    @property
    def shown(self) -> int:
        return sum(n for rule, n in self.findings.items() if rule not in _FOLDED)

    def ratio(self, variant: str, threads: int) -> float | None:
        own = self.seconds.get(variant, {}).get(threads)
        stock = self.seconds.get("clang-lto", {}).get(threads)
        return own / stock if own and stock else None


def _fetch(program: Program, source: Path) -> None:
    if isinstance(program.source, Path):
        shutil.rmtree(source, ignore_errors=True)
        shutil.copytree(program.source, source, symlinks=True)
        return
    say(f"{program.name}: fetching {program.source}")
    log = source.parent / "fetch.log"
    command = [str(ROOT / "scripts" / "fetch-source"), program.source, str(source)]
    if run(command, folder=ROOT, environment=os.environ, log=log) != 0:
        said = log.read_text(encoding="utf-8", errors="replace").splitlines()
        kinds = ("E: ", "fetch-source: ")
        errors = [x.removeprefix("E: ") for x in said if x.startswith(kinds)]
        raise CommandError(f"{errors[0] if errors else 'not fetched'}; all of it is in {log}")


class _Build:
    """One variant of one program, in a folder of its own."""

    def __init__(self, folder: Path, program: Program, variant: str, prefix: Path) -> None:
        self.folder = folder / program.name / variant
        self.tree = self.folder / "tree"
        self.program = program
        self.variant = variant
        self.prefix = prefix

    def names(self) -> dict[str, str]:
        if self.variant == "clang-lto":
            flags = "-flto -fuse-ld=lld -g -Wno-unused-command-line-argument -save-temps=obj"
            return {
                "cc": f"clang-19 {flags}",
                "cxx": f"clang++-19 {flags}",
                "ar": "llvm-ar-19",
                "ranlib": "llvm-ranlib-19",
            }
        own = self.prefix / "bin"
        return {
            "cc": str(own / "tandem-cc"),
            "cxx": str(own / "tandem-c++"),
            "ar": str(own / "tandem-ar"),
            "ranlib": str(own / "tandem-ranlib"),
        }

    def make(self, settings: Mapping[str, str]) -> None:
        """CommandError with the end of the log where it does not build."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        shutil.copytree(self.folder.parent / "source", self.tree, symlinks=True)
        changing = ("TANDEM_", "MAKE", "MFLAGS", "CFLAGS", "LDFLAGS", "CPPFLAGS")
        clean = {k: v for k, v in os.environ.items() if not k.startswith(changing)}
        clean["MAKEFLAGS"] = f"-j{len(os.sched_getaffinity(0))}"
        names = self.names()
        for setting in self.program.environment:
            key, _, value = setting.partition("=")
            clean[key] = value.format_map(names)
        plain = clean | ({} if self.variant == "clang-lto" else {"TANDEM_ENFORCE": "none"})
        enforce = {"TANDEM_ENFORCE": settings["TANDEM_ENFORCE"]} if settings else {}
        for name, commands, environment in (
            # What configure links to try things out is not what is asked for.
            ("configure", self.program.configure, plain | enforce),
            ("build", self.program.build, clean | dict(settings)),
        ):
            for number, command in enumerate(commands):
                words = [word.format_map(names) for word in command]
                log = self.folder / f"{name}-{number}.log"
                must_run(words, folder=self.tree, environment=environment, log=log)

    def said(self) -> str:
        """What the build's commands wrote."""
        logs = sorted(self.folder.glob("build-*.log"))
        return "".join(x.read_text(encoding="utf-8", errors="replace") for x in logs)

    @property
    def binary(self) -> Path:
        return self.tree / self.program.output


def _input(path: Path, mib: int) -> None:
    """Text of few words, the same each time."""
    if path.is_file() and path.stat().st_size == mib << 20:
        return
    source = random.Random(mib)
    words = ["".join(source.choices("etaoinshrdlu", k=source.randint(2, 9))) for _ in range(4000)]
    with path.open("w", encoding="ascii") as file:
        left = mib << 20
        while left > 0:
            text = " ".join(source.choices(words, k=2000)) + "\n"
            file.write(text[:left])
            left -= min(left, len(text))


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _words(build: _Build, command: Sequence[str], threads: int, given: Path) -> list[str]:
    names = {
        "program": str(build.binary),
        "threads": str(threads),
        "input": str(given),
        "output": str(build.folder / "output"),
    }
    return [word.format_map(names) for word in command]


def _watched(build: _Build, after: int) -> dict[str, str]:
    """An environment in which sections are counted, from so many seconds on."""
    _counts_of(build).unlink(missing_ok=True)
    counting = {"TANDEM_PHASES": str(_counts_of(build)), "TANDEM_PHASES_AFTER": str(after)}
    return {k: v for k, v in os.environ.items() if not k.startswith("TANDEM_")} | counting


def _counts_of(build: _Build) -> Path:
    return build.folder / "phases"


def _transactions(build: _Build) -> float | None:
    """The share of the counted sections that were transactions; none: no section was counted."""
    if not _counts_of(build).is_file():
        return None
    counts = [line.split() for line in _counts_of(build).read_text(encoding="ascii").splitlines()]
    sections = sum(int(x[1]) for x in counts)
    return sum(int(x[2]) for x in counts) / sections if sections else None


def _work_for_a_minute(build: _Build, threads: int, given: Path) -> float | None:
    """The share of transactions after a minute of work, which nobody compares."""
    command = build.program.job.minute
    if not command:
        return None
    with (build.folder / "minute.log").open("wb") as log:
        subprocess.run(
            _words(build, command, threads, given),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=log,
            cwd=build.folder,
            env=_watched(build, _MINUTE_S),
            timeout=_JOB_LIMIT_S,
            check=True,
        )
    return _transactions(build)


def _waited(build: _Build, threads: int, given: Path, library: Path) -> float | None:
    """The share of its threads' time that the program waits for its locks in the job, by a profile
    of locks; none: it acquires none.
    """
    for old in build.folder.glob("locks.*.json"):
        old.unlink()
    profiled = {
        "LD_PRELOAD": str(library),
        "TANDEM_LOCK_PROFILE": str(build.folder / "locks.%p.%e.json"),
    }
    _run_job(build, threads, given, profiled)
    waited, there = 0.0, 0.0
    for path in build.folder.glob("locks.*.json"):
        profile = json.loads(path.read_text(encoding="utf-8"))
        if Path(profile["run"]["program"]) == build.binary.resolve():
            waited += sum(x["wait_ns"] for x in profile["locks"]) / 1e9
            there += profile["run"]["wall_seconds"] * profile["run"]["threads"]
        path.unlink()
    return waited / there if there else None


def _run_job(
    build: _Build, threads: int, given: Path, more: Mapping[str, str] | None = None
) -> tuple[float, str]:
    """CPU seconds of the job, and the digest of what it means. `more`: of the environment."""
    job = build.program.job
    output = build.folder / "output"
    words = _words(build, job.command, threads, given)
    output.unlink(missing_ok=True)  # of the run before
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with (
        given.open("rb") as source,
        (Path(os.devnull) if job.writes_output else output).open("wb") as sink,
        (build.folder / "job.log").open("wb") as log,
    ):
        done = subprocess.run(
            words,
            stdin=source if job.stdin else subprocess.DEVNULL,
            stdout=sink,
            stderr=log,
            cwd=build.folder,
            env=_watched(build, 0) | dict(more or {}),
            timeout=_JOB_LIMIT_S,
            check=False,
        )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        raise CommandError(f"{words[0]} ended with status {done.returncode}; see {log.name}")
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if job.undo:
        with output.open("rb") as source, (build.folder / "undone").open("wb") as sink:
            subprocess.run(job.undo, stdin=source, stdout=sink, check=True, timeout=_JOB_LIMIT_S)
        return seconds, _digest(build.folder / "undone")
    return seconds, _digest(output)


def _read_report(outcome: Outcome, path: Path) -> None:
    try:
        report = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CommandError(f"the link wrote no report {path}; look at `output`") from error
    for site in report["lock_sites"]:
        reason = site.get("reason", "")
        if site["operation"] in ("unlock", "signal") or reason.startswith(
            "inside a wrapper of the operation: its"
        ):
            continue
        outcome.sites += 1
        if site["sections"] and not reason:
            outcome.understood += 1
        else:
            outcome.missed.append(f"{site['file']}:{site['line']}: {reason or 'in no region'}")
    for finding in report["findings"]:
        outcome.findings[finding["rule"]] = outcome.findings.get(finding["rule"], 0) + 1


@dataclass(frozen=True, slots=True)
class Survey:
    folder: Path  # of sources and builds
    prefix: Path  # Tandem's
    enforcements: Sequence[str]
    threads: Sequence[int]
    rounds: int
    minute: bool  # whether hybrid's build works for a minute, too

    def run(self, program: Program) -> Outcome:
        """CommandError where it cannot be fetched, or not be built without a conversion."""
        outcome = Outcome(program.name)
        source = self.folder / program.name / "source"
        source.parent.mkdir(parents=True, exist_ok=True)
        _fetch(program, source)
        given = self.folder / f"input-{program.job.input_mib}"
        _input(given, program.job.input_mib)
        builds = {"clang-lto": self._build(program, "clang-lto", {})}
        outcome.sites_in_sources = acquisitions_below(builds["clang-lto"].tree, program.wrappers)
        reports = self.folder / program.name / "reports"
        shutil.rmtree(reports, ignore_errors=True)
        reports.mkdir()
        settings = {"TANDEM_ENFORCE": "none", "TANDEM_REPORT": f"{reports}/%o.json"}
        builds["none"] = self._build(program, "none", settings)
        report = reports / f"{Path(program.output).name}.json"
        _read_report(outcome, report)
        self._convert(program, report, outcome, builds)
        self._measure(outcome, builds, given)
        return outcome

    def _build(self, program: Program, variant: str, settings: Mapping[str, str]) -> _Build:
        say(f"{program.name}: building {variant}")
        made = _Build(self.folder, program, variant, self.prefix)
        made.make(settings)
        return made

    def _convert(
        self, program: Program, report: Path, outcome: Outcome, builds: dict[str, _Build]
    ) -> None:
        """Builds what is suggested under each enforcement."""
        conversion = self.folder / program.name / "suggested.toml"
        conversion.unlink(missing_ok=True)
        tandem = str(self.prefix / "bin" / "tandem")
        suggested = subprocess.run(
            [tandem, "analyze", str(report), "--suggest", str(conversion)],
            capture_output=True,
            text=True,
            check=False,
        )
        if suggested.returncode != 0:
            outcome.kept = [suggested.stderr.strip().rpartition("\n")[2]]
            return
        text = conversion.read_text(encoding="utf-8")
        outcome.sections = text.count("\n[[section]]\n")
        outcome.locks = text.count("\n[[lock]]\n")
        if outcome.sections == 0:
            return
        for enforcement in self.enforcements:
            settings = {"TANDEM_ENFORCE": enforcement, "TANDEM_CONVERT": str(conversion)}
            try:
                made = self._build(program, enforcement, settings)
            except CommandError as error:
                outcome.differ.append(f"{enforcement}: {error}")
                continue
            builds[enforcement] = made
            kept = [
                line.partition("stays a lock: ")[2]
                for line in made.said().splitlines()
                if "stays a lock: " in line
            ]
            outcome.kept = sorted(set(outcome.kept) | set(kept))

    def _measure(self, outcome: Outcome, builds: Mapping[str, _Build], given: Path) -> None:
        """Runs the job of each, in turn. All must write what was given, where that can be had
        again from it, else what clang's writes first with as many threads.
        """
        undone = _digest(given) if builds["clang-lto"].program.job.undo else ""
        for count in self.threads:
            wanted = undone
            taken: dict[str, list[float]] = {name: [] for name in builds}
            for _ in range(self.rounds):
                for name, build in builds.items():
                    say(f"{outcome.name}: {name}, {count} threads")
                    try:
                        seconds, digest = _run_job(build, count, given)
                    except (CommandError, OSError, subprocess.SubprocessError) as error:
                        outcome.differ.append(f"{name} at {count} threads: {error}")
                        continue
                    wanted = wanted or digest
                    if name == "hybrid" and (share := _transactions(build)) is not None:
                        outcome.transactions[count] = share
                    taken[name].append(seconds)
                    if digest != wanted:
                        outcome.differ.append(f"{name} at {count} threads: other output")
            say(f"{outcome.name}: locks of clang-lto, {count} threads")
            preloaded = self.prefix / "lib" / "libtandem_locks.so"
            waited = _waited(builds["clang-lto"], count, given, preloaded)
            if waited is not None:
                outcome.waited[count] = waited
            if self.minute and "hybrid" in builds:
                say(f"{outcome.name}: hybrid, {count} threads, more than a minute")
                try:
                    share = _work_for_a_minute(builds["hybrid"], count, given)
                except (OSError, subprocess.SubprocessError) as error:
                    outcome.differ.append(f"hybrid at {count} threads, for a minute: {error}")
                    share = None
                if share is not None:
                    outcome.transactions_later[count] = share
            for name, seconds_of in taken.items():
                if seconds_of:
                    outcome.seconds.setdefault(name, {})[count] = median(seconds_of)
