# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where things are. The checkout and PREFIX/share/tandem have one layout, found from this file:

python/tandem/       this package
docs/formats/        the JSON schemas
experiments/         one file per table or figure, published.toml and paper.toml
"""

from __future__ import annotations

from pathlib import Path

__all__ = ["EXPERIMENTS", "FORMATS", "PAPER", "PUBLISHED", "ROOT"]

ROOT = Path(__file__).resolve().parent.parent.parent
FORMATS = ROOT / "docs" / "formats"
EXPERIMENTS = ROOT / "experiments"
PUBLISHED = EXPERIMENTS / "published.toml"
PAPER = EXPERIMENTS / "paper.toml"
