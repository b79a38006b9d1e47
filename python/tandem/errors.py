# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The one tree of exceptions. A message is one lower-case line: place, what is wrong, remedy."""

from __future__ import annotations

__all__ = [
    "CheckMissed",
    "CommandError",
    "FormatError",
    "InterruptedRun",
    "InvariantError",
    "JournalError",
    "RunError",
    "TandemError",
    "UserError",
]


class TandemError(Exception):
    """Root of all errors that this package raises on purpose."""

    exit_status = 1  # of the program that ends with this error


class UserError(TandemError):
    """The user's mistake: a bad file, option or environment. Nothing was written."""

    exit_status = 2


class FormatError(UserError):
    """A file that does not follow its format: TOML, JSON or journal."""


class JournalError(UserError):
    """A journal that cannot be continued: another experiment, commit, host or configuration."""


class RunError(TandemError):
    """An experiment that could not be carried out to its end; its journal stays valid."""


class CommandError(RunError):
    """A command of the experiment failed, ran into its time limit, or could not be started."""


class InterruptedRun(RunError):  # noqa: N818
    """Ctrl-C or SIGTERM; the journal holds what was finished."""

    exit_status = 130


class CheckMissed(TandemError):  # noqa: N818
    """An experiment came to its end, and a check that the project has recorded as met differs."""


class InvariantError(RunError):
    """A metric that must be equal everywhere was not."""
