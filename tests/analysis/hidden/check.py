# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The oracles: each pair's two sections conflict in the report, no update of a pair is lost and no
look sees half of one, and a program that checks its own analysis has nothing to say.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from program import Pair, Program

__all__ = ["CHECK", "ENFORCEMENTS", "MODES", "Checker", "Setting", "conflicting_pairs", "settings"]

FOLDER = Path(__file__).parent
INCLUDE = FOLDER.parents[2] / "include"
ENFORCEMENTS = ("global-lock", "locks", "stm", "hybrid", "htm")
CHECK = "check"  # instead of an enforcement: -ftandem-check-effects
MODES = ("insensitive", "sensitive")
RUN_SECONDS = 300.0  # the slowest takes 3 s where nothing else runs
PAIR = re.compile(r"\b(?:mine|theirs)_(\d+)\b")


@dataclass(frozen=True)
class Setting:
    """How a program is built: an enforcement or CHECK, and a mode of the points-to analysis."""

    enforcement: str
    mode: str

    def __str__(self) -> str:
        return f"{self.enforcement}, {self.mode}"

    @property
    def flags(self) -> tuple[str, ...]:
        enforce = (
            "-ftandem-check-effects=1"
            if self.enforcement == CHECK
            else f"-ftandem-enforce={self.enforcement}"
        )
        return enforce, f"-ftandem-points-to={self.mode}"


def settings() -> Iterator[Setting]:
    """All of them."""
    for enforcement in (*ENFORCEMENTS, CHECK):
        for mode in MODES:
            yield Setting(enforcement, mode)


@dataclass
class Failures:
    """What was wrong, by pair."""

    of: dict[int, list[str]] = field(default_factory=lambda: defaultdict(list))

    def add(self, pair: int, what: str) -> None:
        if what not in self.of[pair]:
            self.of[pair].append(what)


@dataclass(frozen=True)
class Checker:
    build: Path
    folder: Path  # for what it makes

    def _environment(self) -> dict[str, str]:
        return {k: v for k, v in os.environ.items() if not k.startswith(("TANDEM_", "ITM_"))}

    def _do(self, *command: object) -> None:
        words = [str(word) for word in command]
        done = subprocess.run(
            words, env=self._environment(), capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{' '.join(words)}: status {done.returncode}\n{done.stderr}"

    def library(self) -> Path:
        """What the sides of a pair meet by; machine code."""
        path = self.folder / "libmeet.so"
        if not path.exists():
            self._do("gcc", "-shared", "-fPIC", "-O2", FOLDER / "meet.c", "-o", path)
        return path

    def _compiler(self, program: Program) -> list[object]:
        name, standard = ("tandem-c++", "gnu++20") if program.cxx else ("tandem-cc", "gnu17")
        catalogue = f"-ftandem-catalogue={FOLDER / 'meet.toml'}"
        return [
            self.build / "bin" / name,
            f"-std={standard}",
            "-O1",
            "-pthread",
            "-w",
            catalogue,
        ]

    def compile(self, program: Program) -> Path:
        source = self.folder / f"{program.name}{program.suffix}"
        source.write_text(program.render(), encoding="utf-8")
        made = source.with_suffix(f"{program.suffix}.o")
        includes = ("-I", FOLDER, "-I", INCLUDE)
        self._do(*self._compiler(program), "-g", *includes, "-c", source, "-o", made)
        return made

    def link(self, program: Program, made: Path, setting: Setting) -> tuple[Path, Path]:
        """The program and its report."""
        output = made.with_suffix(f".{setting.enforcement}.{setting.mode}")
        report = Path(f"{output}.json")
        library = self.library()
        self._do(
            *self._compiler(program),
            *setting.flags,
            f"-ftandem-report={report}",
            *(made, library, f"-Wl,-rpath,{self.folder}", *program.flags),
            *("-lm", "-lrt", "-lanl", "-o", output),
        )
        return output, report

    def failures(self, program: Program, chosen: Iterable[Setting]) -> Failures:
        found = Failures()
        made = self.compile(program)
        for setting in chosen:
            output, report = self.link(program, made, setting)
            known = conflicting_pairs(report)
            for pair in range(len(program.pairs)):
                if pair not in known:
                    found.add(pair, f"{setting.mode}: no conflict in the report")
            self._run(program, output, setting, found)
        return found

    def _run(self, program: Program, output: Path, setting: Setting, found: Failures) -> None:
        record = Path(f"{output}.record")
        record.unlink(missing_ok=True)
        try:
            done = subprocess.run(
                [output],
                env={**self._environment(), "TANDEM_OBSERVE": str(record)},
                capture_output=True,
                text=True,
                errors="replace",
                timeout=RUN_SECONDS,
                check=False,
            )
            status, text, more = done.returncode, done.stdout, done.stderr
        except subprocess.TimeoutExpired as late:
            status, text, more = -14, (late.stdout or b"").decode(), "it did not end"
        lost = {int(x): int(y) for x, y in re.findall(r"^pair (\d+) lost (-?\d+)$", text, re.M)}
        for pair, count in lost.items():
            if count != 0:
                found.add(pair, f"{setting}: {count} lost")
        missed = [x for x in _lines(record) if x.startswith("miss ")]
        for line in missed:
            for pair in {int(x) for x in PAIR.findall(line)}:
                found.add(pair, f"{setting}: {line}")
        absent = [pair for pair in range(len(program.pairs)) if pair not in lost]
        if status != 0 and not missed:
            last = more.strip().split("\n")[-1]
            for pair in absent[:1] or [0]:
                found.add(pair, f"{setting}: status {status} ({last})")
        elif absent:
            for pair in absent:
                found.add(pair, f"{setting}: did not run")

    def shrink(self, name: str, pair: Pair, chosen: Sequence[Setting]) -> tuple[Pair, list[str]]:
        """A simplest pair that still fails as a program of its own, and how it fails; none where
        the pair does not fail by itself.
        """

        def fails(tried: Pair) -> list[str]:
            program = Program(name, (tried,), tried.cxx)
            return self.failures(program, chosen).of.get(0, [])

        texts = fails(pair)
        simpler = bool(texts)
        while simpler:
            simpler = False
            for tried in pair.simpler():
                if told := fails(tried):
                    pair, texts, simpler = tried, told, True
                    break
        return pair, fails(pair)


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def conflicting_pairs(report: Path) -> set[int]:
    """The pairs whose two sections conflict. What shares nothing conflicts with itself only."""
    found = set()
    for section in json.loads(report.read_text(encoding="utf-8"))["sections"]:
        name, conflicts = section["name"], [x["with"] for x in section["conflicts"]]
        assert not name.startswith("apart_") or conflicts == [name], f"{name}: {conflicts}"
        own = re.match(r"mine_(\d+)\b", name)
        if own is None:
            continue
        others = (re.match(r"theirs_(\d+)\b", other) for other in conflicts)
        if any(other is not None and other[1] == own[1] for other in others):
            found.add(int(own[1]))
    return found
