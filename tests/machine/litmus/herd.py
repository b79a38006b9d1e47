# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Litmus tests in files, in the language of the herd tools for RISC-V; and what their logs allow.

    RISCV SB
    { 0:x5=1; 0:x6=x; 0:x8=y; 1:x5=1; 1:x6=y; 1:x8=x; }
     P0          | P1          ;
     sw x5,0(x6) | sw x5,0(x6) ;
     lw x7,0(x8) | lw x7,0(x8) ;
    exists (0:x7=0 /\\ 1:x7=0)

A log has, for each test, `Test NAME ...`, then `States N` or `Histogram (N states)` and a line for
each state. What a test says that is not known here is an UnknownError, with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from program import PLACES, RESULTS, STRIDE, THREADS, row

State = dict[str, int]  # "0:x5" and "[x]"
Condition = Callable[[State], bool]


class UnknownError(Exception):
    """What is not run, and why."""


ABI = [
    "zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4",
    "a5", "a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4",
    "t5", "t6",
]  # fmt: skip
REGISTERS = {name: f"x{n}" for n, name in enumerate(ABI)} | {f"x{n}": f"x{n}" for n in range(32)}
REGISTERS["fp"] = "x8"
KEPT = [1, 8, 9, *range(18, 28)]  # by the calling convention
FRAME = 8 * (len(KEPT) + 3) // 16 * 16
OWN = {"x2", "x3", "x4"}  # of the program around the tests, which get others instead

ORDER = r"(\.aq|\.rl|\.aqrl)?"
KNOWN = re.compile(
    rf"(l[bhw]u?|ld|s[bhwd]|(lr|sc)\.[wd]{ORDER}|amo(swap|add|xor|and|or|min|max|minu|maxu)\.[wd]{ORDER}"
    r"|addi?w?|subw?|xori?|ori?|andi?|sll|srl|li|mv|not|neg|nop|beq|bne|beqz|bnez|j"
    r"|fence(\.tso|\.i)?)"
)


@dataclass(frozen=True)
class FileTest:
    name: str
    threads: tuple[tuple[str, ...], ...]
    registers: tuple[dict[str, str], ...]  # initial: a number or a place
    places: tuple[str, ...]
    memory: dict[str, int]  # initial, where it is not 0
    quantifier: str  # exists, ~exists, forall; "": none
    condition: Condition
    counts: Condition  # the filter: other states are of no interest
    observed: tuple[str, ...]  # registers by thread, then places

    def of_thread(self, thread: int) -> list[str]:
        return [name.split(":")[1] for name in self.observed if name.startswith(f"{thread}:")]


def register(text: str) -> str:
    found = REGISTERS.get(text.strip().lower())
    if found is None:
        raise UnknownError(f"register '{text.strip()}'")
    return found


def location(text: str) -> str:
    """`0:x5`, `x` or `[x]`, as states call it."""
    text = text.strip()
    if ":" in text:
        thread, name = text.split(":", 1)
        return f"{int(thread)}:{register(name)}"
    name = text.removeprefix("[").removesuffix("]").strip()
    if not re.fullmatch(r"[A-Za-z_]\w*", name):
        raise UnknownError(f"location '{text}'")
    return f"[{name}]"


def number(text: str) -> int:
    try:
        return int(text.strip(), 0)
    except ValueError:
        raise UnknownError(f"value '{text.strip()}'") from None


TOKEN = re.compile(r"\s*(/\\|\\/|[()~]|\[?\d*:?[\w.]+\]?\s*=\s*[^\s()/\\]+|not\b|true\b|false\b)")


def parse_condition(text: str) -> tuple[Condition, list[str]]:
    """The condition, and the locations in it."""
    tokens: list[str] = []
    at = 0
    while text[at:].strip():
        found = TOKEN.match(text, at)
        if found is None:
            raise UnknownError(f"condition at '{text[at:].strip()[:30]}'")
        tokens.append(found.group(1))
        at = found.end()
    names: list[str] = []

    def atom() -> Condition:
        token = tokens.pop(0) if tokens else ""
        if token == "(":
            inside = either()
            if not tokens or tokens.pop(0) != ")":
                raise UnknownError("a condition with an open bracket")
            return inside
        if token in ("~", "not"):
            denied = atom()
            return lambda state: not denied(state)
        if token in ("true", "false"):
            return lambda _: token == "true"
        if "=" not in token:
            raise UnknownError(f"condition at '{token}'")
        left, right = token.split("=", 1)
        name, value = location(left), number(right)
        names.append(name)
        return lambda state: state[name] == value

    def joined(part: Callable[[], Condition], sign: str, rule: Callable[..., bool]) -> Condition:
        parts = [part()]
        while tokens and tokens[0] == sign:
            tokens.pop(0)
            parts.append(part())
        return lambda state: rule(each(state) for each in parts)

    def both() -> Condition:
        return joined(atom, "/\\", all)

    def either() -> Condition:
        return joined(both, "\\/", any)

    condition = either()
    if tokens:
        raise UnknownError(f"condition at '{tokens[0]}'")
    return condition, names


def parse(text: str, also: frozenset[str] = frozenset()) -> FileTest:
    """`also`: locations that are to be observed, too."""
    text = re.sub(r"\(\*.*?\*\)", " ", text, flags=re.DOTALL)
    head = re.match(r"\s*(\w+)\s+(\S+)(.*?)\{(.*?)\}(.*)", text, flags=re.DOTALL)
    if head is None:
        raise UnknownError("no '{ ... }' with initial values")
    if head.group(1) != "RISCV":
        raise UnknownError(f"a test for {head.group(1)}")
    end = re.search(r"^\s*(locations|filter|exists|~\s*exists|forall)\b", head.group(5), re.M)
    table = head.group(5)[: end.start()] if end else head.group(5)
    threads = columns(table)
    clauses = head.group(5)[end.start() :] if end else ""
    filtered = re.search(
        r"^\s*filter\b(.*?)(?=^\s*(?:exists|~\s*exists|forall)\b|\Z)", clauses, re.DOTALL | re.M
    )
    watched = re.search(r"locations\s*\[(.*?)\]\s*$", clauses, re.DOTALL | re.M)
    quantified = re.search(r"(~\s*exists|exists|forall)\b(.*)", clauses, re.DOTALL)
    condition, names = parse_condition(quantified.group(2)) if quantified else (bool, [])
    counts, more = parse_condition(filtered.group(1)) if filtered else (lambda _: True, [])
    names += more
    if watched:
        names += [
            location(each.split()[-1]) for each in watched.group(1).split(";") if each.strip()
        ]
    registers, memory = initial(head.group(4), len(threads))
    every = set(names) | also
    places = {value for each in registers for value in each.values() if not is_number(value)}
    places |= set(memory) | {name[1:-1] for name in every if name.startswith("[")}
    ordered = sorted((n for n in every if ":" in n), key=lambda n: (int(n.split(":")[0]), n))
    ordered += sorted(name for name in every if ":" not in name)
    made = FileTest(
        head.group(2), threads, registers, tuple(sorted(places)), memory,
        quantified.group(1).replace(" ", "") if quantified else "", condition, counts,
        tuple(ordered),
    )  # fmt: skip
    check_size(made)
    return made


def is_number(text: str) -> bool:
    return re.fullmatch(r"-?(0x[0-9a-fA-F]+|\d+)", text) is not None


def check_size(test: FileTest) -> None:
    count = len(test.threads)
    if not 1 <= count <= THREADS:
        raise UnknownError(f"{count} threads, at most {THREADS}")
    if not 1 <= len(test.places) <= PLACES:
        raise UnknownError(f"{len(test.places)} places, 1 to {PLACES}")
    if max(len(test.of_thread(thread)) for thread in range(count)) > RESULTS:
        raise UnknownError(f"more than {RESULTS} registers observed")
    for name in test.observed:
        if ":" in name and int(name.split(":")[0]) >= count:
            raise UnknownError(f"{name} of a thread that is not there")


def columns(table: str) -> tuple[tuple[str, ...], ...]:
    rows = [line.strip().removesuffix(";").split("|") for line in table.split("\n") if line.strip()]
    if not rows or any(not re.fullmatch(r"\s*P\d+\s*", name) for name in rows[0]):
        raise UnknownError("no line with P0, P1, ...")
    for line in rows:
        if len(line) != len(rows[0]):
            raise UnknownError(f"{len(line)} columns where there are {len(rows[0])} threads")
    return tuple(
        tuple(line[thread].strip() for line in rows[1:] if line[thread].strip())
        for thread in range(len(rows[0]))
    )


def initial(text: str, threads: int) -> tuple[tuple[dict[str, str], ...], dict[str, int]]:
    registers: tuple[dict[str, str], ...] = tuple({} for _ in range(threads))
    memory: dict[str, int] = {}
    for entry in (each.strip() for each in text.split(";")):
        if not entry:
            continue
        left, _, right = (part.strip() for part in entry.partition("="))
        name = location(left.split()[-1])  # a type may stand before it
        value = right or "0"
        if name.startswith("["):
            memory[name[1:-1]] = number(value)
            continue
        thread, where = name.split(":")
        if int(thread) >= threads:
            raise UnknownError(f"{name} of a thread that is not there")
        if not is_number(value) and not re.fullmatch(r"[A-Za-z_]\w*", value):
            raise UnknownError(f"value '{value}'")
        registers[int(thread)][where] = value
    return registers, memory


# ------------------------------------------------------------------------------------ as assembly


def body(test: FileTest, number: int, thread: int) -> list[str]:
    """As program.py has it: a0 is the first place, a1 where the results go."""
    code = instructions(test.threads[thread], f".L{number}_{thread}_")
    used = {register(name) for line in code for name in re.findall(r"\bx\d+\b", line)}
    starts = dict.fromkeys(used, "0") | test.registers[thread]
    starts |= {name: starts.get(name, "0") for name in test.of_thread(thread)}
    starts.pop("x0", None)
    spare = (f"x{n}" for n in range(5, 32) if f"x{n}" not in starts)
    other = {name: next(spare, "") for name in sorted(OWN & set(starts))}
    if "" in other.values():
        raise UnknownError("as many registers as there are")
    code = [re.sub(r"\bx\d+\b", lambda m: other.get(m.group(), m.group()), line) for line in code]
    starts = {other.get(name, name): value for name, value in starts.items()}
    lines = [f"body_{number}_{thread}:", f"addi sp, sp, -{FRAME}"]
    lines += [f"sd x{n}, {8 * i}(sp)" for i, n in enumerate(KEPT)]
    lines.append(f"sd a1, {8 * len(KEPT)}(sp)")
    for name in sorted(starts, key=lambda n: (n == "x10", n)):  # a0 last
        value = starts[name]
        place = STRIDE * test.places.index(value) if value in test.places else None
        lines.append(f"li {name}, {value}" if place is None else f"addi {name}, x10, {place}")
    lines += code
    shown = [other.get(name, name) for name in test.of_thread(thread)]
    free = next(f"x{n}" for n in range(5, 32) if f"x{n}" not in shown)
    lines.append(f"ld {free}, {8 * len(KEPT)}(sp)")
    lines += [f"sd {name}, {8 * i}({free})" for i, name in enumerate(shown)]
    lines += [f"ld x{n}, {8 * i}(sp)" for i, n in enumerate(KEPT)]
    return [".balign 64", *lines, f"addi sp, sp, {FRAME}", "ret"]


def instructions(code: tuple[str, ...], labels: str) -> list[str]:
    defined = {found.group(1) for line in code if (found := re.match(r"(\w+)\s*:", line))}
    lines: list[str] = []
    for line in code:
        label, _, rest = line.rpartition(":")
        if label:
            lines.append(f"{labels}{label.strip()}:")
        if not rest.strip():
            continue
        name, _, operands = rest.strip().partition(" ")
        name = name.lower().replace(".aq.rl", ".aqrl")
        if not KNOWN.fullmatch(name):
            raise UnknownError(f"instruction '{rest.strip()}'")
        arguments = []
        for each in operands.split(",") if operands.strip() else []:
            each = re.sub(
                r"[A-Za-z]\w*",
                lambda m: REGISTERS.get(m.group().lower(), m.group()),
                each.strip(),
            )
            arguments.append(labels + each if each in defined else each)
        lines.append(f"{name} {', '.join(arguments)}".strip())
    return lines


def assembly(tests: list[FileTest]) -> str:
    lines = [".text"]
    table = [".section .rodata", ".globl tests, tests_end", ".balign 8", "tests:"]
    for number, test in enumerate(tests):
        count = len(test.threads)
        for thread in range(count):
            lines += body(test, number, thread)
        start = [test.memory.get(place, 0) for place in test.places]
        table += row(number, [len(test.of_thread(thread)) for thread in range(count)], start)
    return "\n".join([*lines, *table, "tests_end:", ""])


def state_of(test: FileTest, values: list[int]) -> State:
    """From what the program has printed: the observed registers, then every place."""
    signed = [value - (1 << 64) if value >> 63 else value for value in values]
    names = [f"{t}:{name}" for t in range(len(test.threads)) for name in test.of_thread(t)]
    every = dict(zip([*names, *(f"[{place}]" for place in test.places)], signed, strict=True))
    return {name: every[name] for name in test.observed}


# ------------------------------------------------------------------------------------------- logs

STATE = re.compile(r"(?:\d+\s*[:*]>)?((?:\s*[^\s=;]+\s*=\s*[^\s=;]+\s*;)+)\s*")


def parse_log(text: str) -> dict[str, list[State]]:
    """The states that each test may end in; of tests whose states are not known here, none."""
    allowed: dict[str, list[State]] = {}
    name = ""
    left = 0
    for line in text.splitlines():
        if found := re.match(r"Test (\S+)", line):
            name, left = found.group(1), 0
        elif found := re.match(r"States (\d+)|Histogram \((\d+) states?\)", line):
            left = int(found.group(1) or found.group(2))
            allowed[name] = []
        elif left > 0:
            left -= 1
            whole = STATE.fullmatch(line)
            try:
                if whole is None:
                    raise UnknownError(line)
                pairs = (each.split("=") for each in whole.group(1).split(";") if each.strip())
                allowed[name].append({location(key): number(value) for key, value in pairs})
            except (UnknownError, ValueError):
                allowed.pop(name, None)
                left = 0
    return allowed


@dataclass(frozen=True)
class Suite:
    tests: list[FileTest]
    unknown: dict[str, str]  # files that are not run, with the reason
    allowed: dict[str, list[State]]  # by the test's name


def read(folder: Path) -> Suite:
    """All tests below the folder, and all logs (`*.log`, `*.logs`)."""
    allowed: dict[str, list[State]] = {}
    for path in sorted([*folder.rglob("*.log"), *folder.rglob("*.logs")]):
        allowed |= parse_log(path.read_text(encoding="utf-8", errors="replace"))
    tests: list[FileTest] = []
    unknown: dict[str, str] = {}
    for path in sorted(folder.rglob("*.litmus")):
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
            test = parse(text)
            if states := allowed.get(test.name):
                test = parse(text, frozenset(name for state in states for name in state))
            assembly([test])
            tests.append(test)
        except (UnknownError, ValueError) as why:
            unknown[str(path)] = str(why)
    return Suite(tests, unknown, allowed)


def judge(suite: Suite, test: FileTest, state: State) -> str | None:
    """What is wrong with a state that was seen; None: nothing."""
    if not test.counts(state):
        return None
    if test.name in suite.allowed:
        known = suite.allowed[test.name]
        if not any(all(state[name] == value for name, value in each.items()) for each in known):
            return "no state of the log"
    if test.quantifier == "~exists" and test.condition(state):
        return "~exists"
    if test.quantifier == "forall" and not test.condition(state):
        return "forall"
    return None


def judged(suite: Suite, test: FileTest) -> bool:
    """Whether anything says which states are right."""
    return test.name in suite.allowed or test.quantifier in ("~exists", "forall")
