# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Each case of the corpus by itself, in every context, under every enforcement; make verify.

    singles.py [--only TEXT] [--levels 1]

Of the four levels of optimisation a program gets `--levels`, by turns. Compared with a plain
clang++, and that with g++.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from corpus import (
    CONTEXTS,
    LEVELS,
    MODES,
    ONLY_CLANG,
    Case,
    Corpus,
    CorpusError,
    compare,
    read_cases,
)
from tandem.experiment.progress import Progress

ROOT = Path(__file__).parents[2]


def run(build: Path, number: int, case: Case, context: str, levels: int) -> list[str]:
    """What is wrong."""
    troubles = []
    with tempfile.TemporaryDirectory(prefix="tandem-corpus-") as made:
        corpus = Corpus(build, Path(made))
        source = corpus.write([case], context, case.name)
        try:
            expected = corpus.expected(source)
            if context == "function" and case.name not in ONLY_CLANG:
                compare(expected, corpus.expected(source, "g++"), "clang++ and g++")
        except CorpusError as trouble:
            return [f"{case.name} in a {context}: {trouble}"]
        for i in range(levels):
            level = LEVELS[(number + i) % len(LEVELS)]
            try:
                corpus.check(source, expected, level, MODES)
            except CorpusError as trouble:
                troubles.append(f"{case.name} in a {context}, {level}: {trouble}")
    return troubles


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", metavar="TEXT", help="cases with it in their name")
    parser.add_argument("--levels", type=int, default=1, metavar="N")
    given = parser.parse_args()
    build = Path(os.environ.get("TANDEM_BUILD", ROOT / "build/release")).resolve()
    work = [
        (case, context)
        for case in read_cases()
        for context in CONTEXTS
        if case.fits(context) and given.only in case.name
    ]
    found = []
    with (
        ThreadPoolExecutor(int(os.environ.get("TANDEM_JOBS", os.cpu_count() or 1))) as pool,
        Progress.automatic().bar("corpus", len(work)) as bar,
    ):
        results = pool.map(
            lambda at: run(build, at[0], at[1][0], at[1][1], given.levels), enumerate(work)
        )
        for (case, context), one in zip(work, results, strict=True):
            found.append(one)
            bar.advance(f"{case.name} in a {context}")
            for trouble in one:
                print(trouble, flush=True)
    print(f"{sum(not one for one in found)} passed, {sum(bool(one) for one in found)} failed")
    return 1 if any(found) else 0


if __name__ == "__main__":
    sys.exit(main())
