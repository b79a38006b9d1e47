# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every case of the corpus in one context, many in one program; small ones alone.

singles.py (make verify) builds each in every context, by itself, under every enforcement.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from corpus import (
    CONTEXTS,
    HEADERS,
    LEVELS,
    ONLY_CLANG,
    Case,
    Corpus,
    CorpusError,
    compare,
    program,
    read_cases,
)

GROUP = 60  # cases of a program
CASES = read_cases()
# Programs of these alone include no header of the library's: all that they run is known to the
# compiler, which then plans more (phases of hybrid).
SMALL = [case for case in CASES if program([case], "function").count("#include <") == 0]


def context_of(number: int, case: Case) -> str:
    chosen = CONTEXTS[number % len(CONTEXTS)]
    return chosen if case.fits(chosen) else "function"


def groups() -> list[tuple[str, list[Case]]]:
    made = []
    for context in CONTEXTS:
        own = [case for i, case in enumerate(CASES) if context_of(i, case) == context]
        made += [(context, own[i : i + GROUP]) for i in range(0, len(own), GROUP)]
    return made


GROUPS = groups()
# Of the groups; of the programs that are alone, besides hybrid.
MODES = ("hybrid", "stm", "hybrid", "locks")
OTHERS = ("htm", "global-lock", "stm", "locks", "none")


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    told = os.environ.get("TANDEM_BUILD")
    if not told:
        pytest.fail("TANDEM_BUILD is not set; set it to a build folder, as ctest does")
    return Corpus(Path(told).resolve(), tmp_path_factory.mktemp("corpus"))


def test_all_cases_are_there() -> None:
    assert len(CASES) > 150
    assert len({case.name for case in CASES}) == len(CASES)
    assert sum(len(cases) for _, cases in GROUPS) == len(CASES)
    assert len(SMALL) > 30
    assert {case.name for case in CASES} >= ONLY_CLANG
    text = "\n".join(f"{case.state}\n{case.step}\n{case.sum}" for case in CASES)
    unused = [name for name, words in HEADERS.items() if not re.search(words, text)]
    assert unused == []


@pytest.mark.parametrize("number", range(len(GROUPS)))
def test_as_a_plain_compiler(corpus: Corpus, number: int) -> None:
    context, cases = GROUPS[number]
    mode, level = MODES[number % len(MODES)], LEVELS[(number + 2) % len(LEVELS)]
    source = corpus.write(cases, context, f"group{number}")
    expected = corpus.expected(source, level="-O0")
    algorithm = ("norec", "lazy", "eager")[number % 3]
    corpus.check(source, expected, level, [mode], algorithms=[algorithm])


@pytest.mark.parametrize("number", range(0, len(SMALL), 4))
def test_alone(corpus: Corpus, number: int) -> None:
    case = SMALL[number]
    context = context_of(number // 4, case)
    source = corpus.write([case], context, case.name)
    expected = corpus.expected(source, level="-O0")
    modes = ["hybrid", OTHERS[number // 4 % len(OTHERS)]]
    corpus.check(source, expected, LEVELS[number // 4 % 4], modes, algorithms=["auto"])


def test_what_differs_is_told() -> None:
    with pytest.raises(CorpusError, match="'b 1' instead of 'b 2'"):
        compare("a 1\nb 1\n", "a 1\nb 2\n", "program")
