# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Starts the harness, or says in one line what is missing for that."""

from __future__ import annotations

import sys

from tandem.interrupts import end_at_once

end_at_once()  # modules take a while to load


def start() -> int:
    if sys.version_info < (3, 11):  # noqa: UP036
        version = ".".join(map(str, sys.version_info[:2]))
        print(
            f"tandem experiment: Python {version} is too old; name a Python of 3.11 or newer in "
            "TANDEM_PYTHON",
            file=sys.stderr,
        )
        return 2
    try:
        from tandem.experiment.cli import main
    except ModuleNotFoundError as error:
        missing = (error.name or "?").partition(".")[0]
        if missing == "tandem":
            raise
        print(
            f"tandem experiment: {sys.executable} lacks the package {missing}; run scripts/setup, "
            "or name a Python that has it in TANDEM_PYTHON",
            file=sys.stderr,
        )
        return 2
    return main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(start())
