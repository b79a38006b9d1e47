# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A corpus of C++: what the language has (cases.txt), in each way that a section is marked.

A program holds some of the cases in one context. It runs every case's step for the numbers 0 to
N - 1, dealt out to its threads, and prints a line per case: the final state, and how many steps an
exception left. Neither depends on the order of the steps, so the same program by a plain compiler
says what must be printed.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
MODES = ("none", "global-lock", "locks", "stm", "hybrid", "htm")
LEVELS = ("-O0", "-O1", "-O2", "-O3")
CONTEXTS = ("function", "block", "lambda", "region")
STEPS = 48  # of each case
RUN_SECONDS = 120.0  # of a whole run, on a busy machine

# What a word of a case needs. Programs include no more: what is linked in decides what the compiler
# may assume.
HEADERS = {
    "algorithm": r"std::(sort|stable_sort|partition|rotate|count|copy|unique|nth_element|find|max"
    r"|is_heap|push_heap|next_permutation|lower_bound|binary_search)\b|ranges::",
    "any": r"std::(any|bad_any_cast)\b",
    "array": r"std::array\b",
    "atomic": r"std::atomic",
    "bitset": r"std::bitset\b",
    "charconv": r"_chars\b",
    "chrono": r"std::chrono",
    "compare": r"<=>",
    "complex": r"std::complex\b",
    "concepts": r"\bconcept\b",
    "coroutine": r"std::(coroutine|suspend)",
    "cstdarg": r"va_list",
    "cstdint": r"intptr_t",
    "cstdlib": r"std::abort",
    "cstring": r"std::(mem(cpy|set|move|cmp)|strlen)\b",
    "deque": r"std::deque\b",
    "exception": r"std::(exception|current_exception|rethrow|uncaught|terminate|throw_with)",
    "forward_list": r"std::forward_list\b",
    "functional": r"std::(function|bind|invoke|hash|less|greater|bad_function_call)\b",
    "initializer_list": r"std::initializer_list\b",
    "iterator": r"back_inserter|istream_iterator",
    "list": r"std::list\b",
    "map": r"std::(multi)?map\b",
    "memory": r"std::(unique_ptr|shared_ptr|weak_ptr|make_unique|make_shared|enable_shared"
    r"|destroy)",
    "memory_resource": r"std::pmr",
    "mutex": r"std::(mutex|call_once|once_flag|lock_guard)\b",
    "new": r"new \(|std::nothrow|operator new",
    "numeric": r"std::(accumulate|iota|partial_sum|inner_product|gcd)\b",
    "optional": r"std::optional\b",
    "queue": r"std::(priority_)?queue\b",
    "random": r"std::minstd",
    "ranges": r"std::(views|ranges)",
    "set": r"std::(multi)?set\b",
    "span": r"std::span\b",
    "sstream": r"stringstream",
    "stack": r"std::stack\b",
    "stdexcept": r"std::(runtime_error|logic_error|out_of_range|invalid_argument)\b",
    "string": r"std::(string|u16string|to_string|stol)\b",
    "string_view": r"std::string_view\b",
    "thread": r"std::thread\b",
    "tuple": r"std::(tuple|get)\b",
    "type_traits": r"std::is_\w+_v",
    "typeinfo": r"typeid|bad_cast|dynamic_cast",
    "unordered_map": r"std::unordered_map\b",
    "unordered_set": r"std::unordered_set\b",
    "utility": r"std::(pair|move|swap|exchange|forward)\b",
    "valarray": r"std::valarray\b",
    "variant": r"std::(variant|visit|bad_variant)",
    "vector": r"std::vector\b",
    "version": r"<=>",
}
# gcc 12 does not have what these use.
ONLY_CLANG = {"inline_copies"}


@dataclass(frozen=True)
class Case:
    name: str
    out: bool  # an exception may leave the step
    state: str  # declarations
    step: str
    sum: str

    def fits(self, context: str) -> bool:
        """A region that an exception leaves would keep its lock."""
        return context != "region" or not self.out


def read_cases() -> list[Case]:
    cases = []
    text = (HERE / "cases.txt").read_text(encoding="utf-8")
    for part in re.split(r"^=== ", text, flags=re.M)[1:]:
        head, body = part.split("\n", 1)
        name, *flags = head.split()
        state, rest = body.split("--- step\n")
        step, total = rest.split("--- sum\n")
        assert set(flags) <= {"out"}, f"{name}: {flags}"
        cases.append(Case(name, "out" in flags, state, step.strip(), total.strip()))
    return cases


RUN = {
    "function": "ATOMIC static void run([[maybe_unused]] long k) {{ {step} }}",
    "block": "static void run([[maybe_unused]] long k) {{ tandem_atomic {{ {step} }} }}",
    "lambda": "static void run([[maybe_unused]] long k) {{ tandem::atomic([&] {{ {step} }}); }}",
    # The step apart: a function of lock regions has no clean-ups.
    "region": "static void region_step([[maybe_unused]] long k) {{ {step} }}\n"
    "static void run(long k) {{ pthread_mutex_lock(&region_lock); region_step(k); "
    "pthread_mutex_unlock(&region_lock); }}",
}


def program(cases: Iterable[Case], context: str) -> str:
    cases = list(cases)
    text = "\n".join(f"{case.state}\n{case.step}\n{case.sum}" for case in cases)
    headers = [name for name, words in HEADERS.items() if re.search(words, text)]
    lines = ["// Made by tests/cpp/corpus.py.", *(f"#include <{name}>" for name in headers)]
    lines.append('#include "corpus.h"')
    for case in cases:
        run = RUN[context].format(step=case.step)
        lines += [
            f"namespace case_{case.name} {{",
            case.state + run,
            f"static long sum() {{ return {case.sum}; }}",
            "}",
        ]
    lines.append("static const Case kCases[] = {")
    lines += [
        f'  {{"{case.name}", case_{case.name}::run, case_{case.name}::sum}},' for case in cases
    ]
    lines += ["};", "CORPUS_MAIN(kCases)", ""]
    return "\n".join(lines)


def environment() -> dict[str, str]:
    return {k: v for k, v in os.environ.items() if not k.startswith("TANDEM_")}


class CorpusError(Exception):
    """A program that does not compile, link or run as a plain compiler's does."""


def call(command: list[str], *, seconds: float = 600.0, **variables: str) -> str:
    """The output of a command. Raises CorpusError."""
    shown = " ".join([*(f"{k}={v}" for k, v in variables.items()), *command])
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=seconds,
            env={**environment(), **variables},
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise CorpusError(f"{shown}\nno end in {seconds:.0f} s") from None
    if done.returncode != 0:
        raise CorpusError(f"{shown}\nstatus {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


@dataclass(frozen=True)
class Corpus:
    """Compiles by `build` into `folder`."""

    build: Path
    folder: Path

    FLAGS = ("-std=c++20", "-g", "-pthread", "-w", "-I", str(HERE))

    def write(self, cases: Iterable[Case], context: str, name: str) -> Path:
        source = self.folder / f"{name}-{context}.cc"
        source.write_text(program(cases, context), encoding="utf-8")
        return source

    def expected(self, source: Path, compiler: str = "clang++-19", level: str = "-O1") -> str:
        """What the program prints: of a plain compiler, its steps under one lock."""
        plain = source.with_suffix(f".{compiler}")
        call([compiler, *self.FLAGS, level, "-DPLAIN", str(source), "-o", str(plain)])
        return call([str(plain), "1", str(STEPS)], seconds=RUN_SECONDS)

    def compile(self, source: Path, level: str, *, region: bool, none: bool = False) -> Path:
        """The object, for every enforcement but none, or for that."""
        made = source.with_name(f"{source.stem}{level}{'-none' if none else ''}.o")
        command = [str(self.build / "bin/tandem-c++"), *self.FLAGS, level, "-c", str(source)]
        command += [f"-ftandem-enforce={'none' if none else 'hybrid'}", *self.conversion(region)]
        call([*command, "-o", str(made)])
        return made

    def link(self, made: Path, level: str, mode: str, *, region: bool) -> Path:
        linked = made.with_name(f"{made.stem}-{mode}")
        command = [str(self.build / "bin/tandem-c++"), "-pthread", level, str(made)]
        command += [f"-ftandem-enforce={mode}", *self.conversion(region), "-o", str(linked)]
        call(command)
        return linked

    @staticmethod
    def conversion(region: bool) -> list[str]:
        return [f"-ftandem-convert={HERE / 'region.toml'}"] if region else []

    def check(
        self,
        source: Path,
        expected: str,
        level: str,
        modes: Iterable[str],
        *,
        algorithms: Iterable[str] = ("norec", "lazy", "eager"),
    ) -> None:
        """Builds and runs it with one and two threads. Raises CorpusError."""
        region = source.stem.endswith("region")
        objects = {}
        for mode in modes:
            none = mode == "none"
            if none not in objects:
                objects[none] = self.compile(source, level, region=region and not none, none=none)
            linked = self.link(objects[none], level, mode, region=region and not none)
            for algorithm in algorithms if mode in ("stm", "hybrid") else ("auto",):
                for threads in ("1",) if none else ("1", "2"):
                    output = call(
                        [str(linked), threads, str(STEPS)],
                        seconds=RUN_SECONDS,
                        TANDEM_ALGORITHM=algorithm,
                    )
                    compare(output, expected, f"{linked} {threads} {STEPS}, {algorithm}")
            linked.unlink()
        for made in objects.values():
            made.unlink()


def compare(output: str, expected: str, told: str) -> None:
    if output == expected:
        return
    wrong = [
        f"{got!r} instead of {want!r}"
        for got, want in zip(output.splitlines(), expected.splitlines(), strict=False)
        if got != want
    ]
    raise CorpusError(f"{told}: {'; '.join(wrong) or 'another number of lines'}")
