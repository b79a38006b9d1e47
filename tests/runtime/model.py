# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The engine's protocols as small programs on x86's memory model, every interleaving explored.

Memory is a table of words; each thread has a FIFO store buffer that drains at any time (x86-TSO).
A locked instruction (`Swap`) waits until its thread's buffer is empty. A state in which a `Check`
does not hold, or from which no thread can move although one is not done, is an error; `explore`
returns it with the steps that lead there. With `ends`, so is a state from which no way leads to the
end of all threads: a deadlock of loops that wait.

The programs (protocols.py) are those of docs/design/0020-runtime.md, with the values that matter:
begin (mark, word), reads and writes of orecs and of NOrec, commits, quiescence, being serial.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass

Registers = Mapping[str, int]
Value = Callable[[Registers], int]


@dataclass(frozen=True)
class Load:
    to: str
    address: str


@dataclass(frozen=True)
class Store:
    address: str
    value: Value


@dataclass(frozen=True)
class Swap:
    """Locked: `to` becomes the old value; memory changes to value(registers with `to`)."""

    to: str
    address: str
    value: Value


@dataclass(frozen=True)
class Set:
    to: str
    value: Value


@dataclass(frozen=True)
class Go:
    """To `label` if the condition holds."""

    label: str
    when: Value = lambda _: 1


@dataclass(frozen=True)
class Barrier:
    """membarrier: waits until every thread's buffer is empty."""


@dataclass(frozen=True)
class Check:
    holds: Value
    what: str


@dataclass(frozen=True)
class Label:
    name: str


@dataclass(frozen=True)
class Atomic:
    """A hardware transaction that commits: all of `body`, which has no Swap, Barrier or Atomic, in
    one step, with an empty buffer before and after (XBEGIN and XEND are locked instructions).

    That is what it is to others: one whose reads are not all current at its end is undone by the
    processor as soon as they are not, so it neither commits nor is seen. A Go to the label "abort",
    which is the program's and not the body's, undoes the body."""

    body: tuple[Load | Store | Set | Go | Check | Label, ...]


Step = Load | Store | Swap | Barrier | Set | Go | Check | Label | Atomic
Program = list[Step]
Words = tuple[tuple[str, int], ...]
# Position, registers, store buffer.
Thread = tuple[int, Words, Words]
State = tuple[Words, tuple[Thread, ...]]


@dataclass(frozen=True)
class Result:
    states: int
    error: str | None  # with the steps that lead to it


def with_word(words: Words, name: str, value: int) -> Words:
    changed = dict(words)
    changed[name] = value
    return tuple(sorted(changed.items()))


class Machine:
    def __init__(self, memory: Mapping[str, int], programs: list[Program]) -> None:
        self.programs = programs
        self.labels = [
            {step.name: at for at, step in enumerate(program) if isinstance(step, Label)}
            for program in programs
        ]
        self.first: State = (
            tuple(sorted(memory.items())),
            tuple((0, (), ()) for _ in programs),
        )

    def move(self, state: State, index: int) -> State | str | None:
        """The state after the thread's next step; an error; None where it cannot move."""
        memory, threads = state
        at, registers, buffer = threads[index]
        program = self.programs[index]
        if at == len(program):
            return None
        step, known = program[at], dict(registers)
        if isinstance(step, Load):
            pending = [value for address, value in buffer if address == step.address]
            value = pending[-1] if pending else dict(memory)[step.address]
            registers = with_word(registers, step.to, value)
        elif isinstance(step, Store):
            buffer = (*buffer, (step.address, step.value(known)))
        elif isinstance(step, Swap):
            if buffer:
                return None
            known[step.to] = dict(memory)[step.address]
            registers = with_word(registers, step.to, known[step.to])
            memory = with_word(memory, step.address, step.value(known))
        elif isinstance(step, Barrier):
            if any(pending for _, _, pending in threads):
                return None
        elif isinstance(step, Set):
            registers = with_word(registers, step.to, step.value(known))
        elif isinstance(step, Atomic):
            if buffer:
                return None
            done = self.transact(step, memory, known)
            if isinstance(done, str):
                return done
            if done is None:
                at = self.labels[index]["abort"] - 1
            else:
                memory, registers = done
        elif isinstance(step, Check):
            if not step.holds(known):
                return step.what
        elif isinstance(step, Go) and step.when(known):
            at = self.labels[index][step.label] - 1
        return memory, (
            *threads[:index],
            (at + 1, registers, buffer),
            *threads[index + 1 :],
        )

    @staticmethod
    def transact(
        atomic: Atomic, memory: Words, known: dict[str, int]
    ) -> tuple[Words, Words] | str | None:
        """Memory and registers afterwards; what is wrong in it; None if it is undone."""
        labels = {step.name: at for at, step in enumerate(atomic.body) if isinstance(step, Label)}
        words, at = dict(memory), 0
        while at < len(atomic.body):
            step = atomic.body[at]
            if isinstance(step, Load):
                known[step.to] = words[step.address]
            elif isinstance(step, Store):
                words[step.address] = step.value(known)
            elif isinstance(step, Set):
                known[step.to] = step.value(known)
            elif isinstance(step, Check) and not step.holds(known):
                return step.what
            elif isinstance(step, Go) and step.when(known):
                if step.label == "abort":
                    return None
                at = labels[step.label]
            at += 1
        return tuple(sorted(words.items())), tuple(sorted(known.items()))

    def drain(self, state: State, index: int) -> State | None:
        memory, threads = state
        at, registers, buffer = threads[index]
        if not buffer:
            return None
        memory = with_word(memory, *buffer[0])
        return memory, (
            *threads[:index],
            (at, registers, buffer[1:]),
            *threads[index + 1 :],
        )

    def done(self, state: State) -> bool:
        return all(
            thread[0] == len(program)
            for thread, program in zip(state[1], self.programs, strict=True)
        )

    def explore(self, most: int = 3_000_000, ends: bool = False) -> Result:
        before: dict[State, list[State]] = {}
        origin: dict[State, tuple[State, str] | None] = {self.first: None}
        queue = deque([self.first])
        while queue:
            state = queue.popleft()
            moved = False
            for index in range(len(self.programs)):
                name = f"{index}:{state[1][index][0]}"
                for kind, after in (
                    (name, self.move(state, index)),
                    (f"{index}:drain", self.drain(state, index)),
                ):
                    if after is None:
                        continue
                    moved = True
                    if isinstance(after, str):
                        return Result(len(origin), f"{after}: {self.way(origin, state)}")
                    if ends:
                        before.setdefault(after, []).append(state)
                    if after not in origin:
                        origin[after] = (state, kind)
                        queue.append(after)
            if not moved and not self.done(state):
                return Result(len(origin), f"stuck: {self.way(origin, state)}")
            if len(origin) > most:
                raise MemoryError(f"more than {most} states")
        if ends:
            finite = {state for state in origin if self.done(state)}
            rest = list(finite)
            while rest:
                for state in before.get(rest.pop(), []):
                    if state not in finite:
                        finite.add(state)
                        rest.append(state)
            for state in origin:
                if state not in finite:
                    return Result(len(origin), f"never ends: {self.way(origin, state)}")
        return Result(len(origin), None)

    @staticmethod
    def way(origin: Mapping[State, tuple[State, str] | None], state: State) -> str:
        steps: list[str] = []
        before = origin[state]
        while before is not None:
            steps.append(before[1])
            before = origin[before[0]]
        return " ".join(reversed(steps))
