# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`tandem workload programs [NAME...]`: its options.

Exit status: 0; 1 where a program does not build, or computes something else than clang's; 2 for
the user's mistake.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from tandem.errors import CommandError, UserError
from tandem.files import check_outputs, check_target, write_text
from tandem.paths import prefix, work_folder
from tandem.version import PrintVersion
from tandem.workload.programs.description import FOLDER, Program, read_program
from tandem.workload.programs.show import to_html, to_json, to_table
from tandem.workload.programs.survey import ENFORCEMENTS, Outcome, Survey
from tandem.workload.steps import Quiet, one_at_a_time

__all__ = ["SUMMARY", "run_programs"]

PROGRAM = "tandem workload programs"
SUMMARY = "real programs: built, analysed, converted as suggested, run and compared"


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UserError(f"{message}; see {PROGRAM} --help")


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 1024:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number from 1 to 1024")
    return int(text)


def _counts(text: str) -> tuple[int, ...]:
    return tuple(_count(x) for x in text.split(","))


def _enforcements(text: str) -> tuple[str, ...]:
    words = tuple(text.split(","))
    if unknown := [x for x in words if x not in ENFORCEMENTS]:
        raise argparse.ArgumentTypeError(f"'{unknown[0]}' is none of {', '.join(ENFORCEMENTS)}")
    return words


def _parser() -> argparse.ArgumentParser:
    known = ", ".join(sorted(x.stem for x in FOLDER.glob("*.toml")))
    made = _Parser(
        prog=PROGRAM,
        description=f"{SUMMARY[0].upper()}{SUMMARY[1:]}.",
        allow_abbrev=False,
    )
    add = made.add_argument
    add("names", nargs="*", metavar="NAME", help=f"of {known}, or a file NAME.toml; default: all")
    add("--enforce", type=_enforcements, metavar="NAME[,...]", default=ENFORCEMENTS, help="[all]")
    add("--threads", type=_counts, metavar="N[,...]", default=(1, 2, 8), help="[1,2,8]")
    add("--rounds", type=_count, metavar="N", default=3, help="variants in turn [3]")
    add("--minute", action="store_true", help="also work for a minute, where the file says how")
    add("--json", type=Path, metavar="FILE", help="also as JSON")
    add("--html", type=Path, metavar="FILE", help="also as a page")
    add(
        "--folder",
        type=Path,
        metavar="FOLDER",
        default=work_folder() / "workloads" / "programs",
        help="where sources are unpacked and built",
    )
    add("--quiet", action=Quiet, nargs=0, help="no progress")
    add("--version", action=PrintVersion, nargs=0, help="print the version")
    return made


def _programs(names: Sequence[str]) -> list[Program]:
    paths = []
    for name in names or sorted(x.stem for x in FOLDER.glob("*.toml")):
        path = Path(name) if name.endswith(".toml") else FOLDER / f"{name}.toml"
        if not path.is_file():
            raise UserError(f"{path}: is not there; {PROGRAM} --help lists the programs")
        paths.append(path)
    return [read_program(x) for x in paths]


def run_programs(arguments: Sequence[str]) -> int:
    """The exit status."""
    asked = _parser().parse_intermixed_args(arguments)
    programs = _programs(asked.names)
    for option, path in (("--json", asked.json), ("--html", asked.html)):
        if path:
            check_target(path, option, make=False)
    check_outputs([x for x in (asked.json, asked.html) if x], [])
    folder = asked.folder.resolve()
    survey = Survey(folder, prefix(), asked.enforce, asked.threads, asked.rounds, asked.minute)
    outcomes = []
    with one_at_a_time(folder):
        for program in programs:
            try:
                outcomes.append(survey.run(program))
            except CommandError as error:
                needs = f"; it needs {', '.join(program.needs)}" if program.needs else ""
                outcomes.append(Outcome(program.name, failed=f"{error}{needs}"))
    print(to_table(outcomes, asked.threads))
    if asked.json:
        write_text(asked.json, to_json(outcomes))
    if asked.html:
        write_text(asked.html, to_html(outcomes, asked.threads))
    return 1 if any(x.failed or x.differ for x in outcomes) else 0
