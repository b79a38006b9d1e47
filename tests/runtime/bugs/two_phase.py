# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bugs of two-phase."""

from __future__ import annotations

from bugs.bug import Bug

TWO_PHASE = {
    "two-phase-unlocked-read": Bug(
        "two-phase: a read goes on where a writer has the lock",
        "algorithms/two_phase.cc",
        "      meet(*thread, orec, word, false, attempts);\n      continue;",
        "      return memory::load(address);",
        "two-phase",
        ("opacity", "opaque", "micro"),
    ),
    "two-phase-readers-ignored": Bug(
        "two-phase: a writer does not wait for readers",
        "algorithms/two_phase.cc",
        "    if ((word & ~kWanted & ~own) != 0) {",
        "    if ((word & kHeld) != 0) {",
        "two-phase",
        ("opacity", "opaque", "micro"),
    ),
    "two-phase-released-early": Bug(
        "two-phase: a read keeps no lock",
        "algorithms/two_phase.h",
        "      thread->reads.push_unchecked(&orec);\n",
        "      value = memory::load(address);\n      orec.clear(thread->limit);\n"
        "      return true;\n",
        "two-phase",
        ("opacity", "opaque", "micro"),
    ),
    "two-phase-readers-forgotten": Bug(
        "two-phase: a reader does not put its bit into the word that others have",
        "algorithms/two_phase.h",
        "!orec.acquire(word, word | thread->limit)) [[unlikely]]",
        "(word != 0 ? false : !orec.acquire(word, thread->limit))) [[unlikely]]",
        "two-phase",
        ("opacity", "opaque", "micro"),
    ),
    "fork-keeps-the-locks": Bug(
        "fork: in the child locks stay held for ever that a short section had",
        "transaction/process.cc",
        "    two_phase::forget_all_locks();",
        "    ;",
        "two-phase",
        ("fork",),
    ),
    "short-with-locks-beside-one-that-is-serial": Bug(
        "short sections: one with locks does not look whether somebody is serial",
        "transaction/short.cc",
        "  if (serial::taken() || !runs_by(Algorithm::two_phase)) [[unlikely]] {",
        "  if (!runs_by(Algorithm::two_phase)) [[unlikely]] {",
        "two-phase",
        ("shorts",),
    ),
    "short-without-a-mark": Bug(
        "short sections: one with locks has no mark",
        "transaction/short.cc",
        "  thread.mark->store(encode_mark(0), std::memory_order_relaxed);",
        "  thread.mark->store(0, std::memory_order_relaxed);",
        "two-phase",
        ("shorts",),
    ),
    "short-with-a-lock-less": Bug(
        "short sections: the last stripe is not locked",
        "transaction/short.cc",
        "stripe <= last; ++stripe)",
        "stripe < last; ++stripe)",
        "two-phase",
        ("shorts",),
    ),
    "guarded-by-only-in-short-ones": Bug(
        "locks that guard their data: transactions do not hold them",
        "transaction/guarded_by.cc",
        "thread.mode >= Mode::eager && thread.mode != Mode::hardware && !hardware::in_use()",
        "thread.mode == Mode::idle",
        "two-phase",
        ("locks-guarded-by",),
    ),
    "serial-beside-one-in-place": Bug(
        "Mode::guarded_by: it has no mark",
        "transaction/begin.cc",
        "  thread.mark->exchange(kMarkNewest);",
        "",
        "two-phase",
        ("in-place",),
    ),
}
