# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where things are. The checkout and PREFIX/share/tandem have one layout, found from this file:

python/tandem/       this package
docs/formats/        the JSON schemas
experiments/         one file per table or figure, published.toml and paper.toml
workloads/           sources of programs that are built at use
"""

from __future__ import annotations

import os
from pathlib import Path

__all__ = [
    "EXPERIMENTS",
    "FORMATS",
    "PAPER",
    "PUBLISHED",
    "ROOT",
    "in_checkout",
    "prefix",
    "work_folder",
]

ROOT = Path(__file__).resolve().parent.parent.parent
FORMATS = ROOT / "docs" / "formats"
EXPERIMENTS = ROOT / "experiments"
PUBLISHED = EXPERIMENTS / "published.toml"
PAPER = EXPERIMENTS / "paper.toml"


def in_checkout() -> bool:
    """Whether this is a checkout, and no installation."""
    return (ROOT / "CMakeLists.txt").exists()


def prefix() -> Path:
    """What has bin/, lib/ and libexec/: a build tree or an installation, as the launcher tells."""
    told = os.environ.get("TANDEM_BUILD")
    return Path(told).resolve() if told else ROOT / "build" / "release"


def work_folder() -> Path:
    """Where what is built at use goes by default: build/ of the checkout, else the user's cache."""
    if in_checkout():
        return ROOT / "build"
    told = os.environ.get("XDG_CACHE_HOME")
    return (Path(told) if told else Path.home() / ".cache") / "tandem"
