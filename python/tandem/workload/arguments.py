# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the command lines of all workloads have in common."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from typing import NoReturn

from tandem.errors import UserError
from tandem.version import PrintVersion
from tandem.workload.steps import Quiet

__all__ = ["Parser", "action_parser", "add_common", "check_actions", "number", "numbers"]


class Parser(argparse.ArgumentParser):
    """Its errors are UserErrors."""

    def error(self, message: str) -> NoReturn:
        raise UserError(f"{message}; see {self.prog} --help")


def number(low: int, high: int) -> Callable[[str], int]:
    """What reads an option's whole number from `low` to `high`."""

    def read(text: str) -> int:
        if not text.isascii() or not text.isdigit() or not low <= int(text) <= high:
            raise argparse.ArgumentTypeError(f"'{text}' is not a number from {low} to {high}")
        return int(text)

    return read


def numbers(low: int, high: int) -> Callable[[str], tuple[int, ...]]:
    """What reads such numbers, separated by commas."""
    one = number(low, high)
    return lambda text: tuple(one(x) for x in text.split(","))


def action_parser(
    program: str, summary: str, lists: Mapping[str, Mapping[str, str]], *, operands: str = ""
) -> argparse.ArgumentParser:
    """Of a command whose first word is one of `lists["Actions"]`; its help shows all lists, of
    words and what they mean.
    """
    width = min(16, 2 + max(len(name) for entries in lists.values() for name in entries))

    def entry(name: str, text: str) -> str:
        return f"  {name:<{width}}{text}" if len(name) < width else f"  {name}\n{'':14}{text}"

    text = "\n\n".join(
        f"{title}:\n" + "\n".join(entry(*x) for x in entries.items())
        for title, entries in lists.items()
    )
    made = Parser(
        prog=program,
        usage=f"{program} ACTION {operands}[OPTIONS]",
        description=f"{summary}.\n\n{text}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    made.add_argument(
        "action", choices=list(lists["Actions"]), metavar="ACTION", help=argparse.SUPPRESS
    )
    return made


def add_common(to: argparse.ArgumentParser) -> None:
    """The last options of every workload."""
    to.add_argument("--quiet", action=Quiet, nargs=0, help="no progress")
    to.add_argument("--version", action=PrintVersion, nargs=0, help="print the version")


def check_actions(asked: argparse.Namespace, takes: Mapping[str, Sequence[str]]) -> None:
    """UserError where an option is given to another action than those that take it."""
    for name, actions in takes.items():
        if getattr(asked, name) is not None and asked.action not in actions:
            option = name.replace("_", "-")
            raise UserError(f"--{option} is an option of {' and '.join(actions)}")
