# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What --version says of the programs that are written in Python."""

from __future__ import annotations

import argparse
import subprocess

from tandem import __version__
from tandem.paths import prefix

__all__ = ["PrintVersion", "version_text"]


def version_text() -> str:
    """As `tandem --version` says: version, commit, LLVM. Of this package alone where there is no
    build."""
    try:
        done = subprocess.run(
            [prefix() / "bin" / "tandem", "--version"], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return __version__
    return done.stdout.strip().removeprefix("tandem ")


class PrintVersion(argparse.Action):
    """--version of an argparse command line."""

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        print(f"{parser.prog} {version_text()}")
        parser.exit()
