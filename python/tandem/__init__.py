# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tandem's Python side: experiments, statistics, tables, plots, and the readers of its JSON files.

Importing this package imports nothing beyond the standard library; `tandem.formats` needs
jsonschema and pandas, `tandem.experiment` all packages listed in pyproject.toml.
"""

from tandem.errors import (
    CommandError,
    FormatError,
    InterruptedRun,
    InvariantError,
    JournalError,
    RunError,
    TandemError,
    UserError,
)

__version__ = "0.1.0"

__all__ = [
    "CommandError",
    "FormatError",
    "InterruptedRun",
    "InvariantError",
    "JournalError",
    "RunError",
    "TandemError",
    "UserError",
    "__version__",
]
