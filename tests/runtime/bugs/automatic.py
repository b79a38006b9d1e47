# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bugs of the changes from one algorithm to another."""

from __future__ import annotations

from bugs.bug import Bug

AUTOMATIC = {
    "change-beside-transactions": Bug(
        "auto: the algorithm changes while transactions run",
        "algorithms/automatic.cc",
        "    for (; marks[i].value.load(std::memory_order_acquire) != 0 && rounds < kPatience; "
        "++rounds)",
        "    for (; marks[i].value.load() == 0 && rounds > kPatience; ++rounds)",
        "auto",
        ("automatic",),
    ),
    "change-unseen": Bug(
        "auto: a transaction that is preempted at its begin does not look at the algorithm again",
        "transaction/begin.cc",
        "  thread.mark->exchange(encode_mark(time));\n  if (serial::taken() || "
        "settings.algorithm.load(std::memory_order_relaxed) != kAlgorithm)",
        "  for (int i = 0; i < 1000; ++i)\n    __builtin_ia32_pause();\n"
        "  thread.mark->exchange(encode_mark(time));\n  if (serial::taken())",
        "auto",
        ("automatic",),
    ),
    "norec-joins-unlooked": Bug(
        "norec: a transaction that joins at its first read does not look whether it may",
        "algorithms/norec.cc",
        "  thread.mark->exchange(encode_mark(time));\n  if (may_not_commit())",
        "  for (int i = 0; i < 1000; ++i)\n    __builtin_ia32_pause();\n"
        "  thread.mark->exchange(encode_mark(time));\n  if (thread.depth == 0)",
        "auto",
        ("automatic", "micro"),
    ),
    "change-without-the-word": Bug(
        "auto: transactions begin while the algorithm changes",
        "algorithms/automatic.cc",
        "  if (changes)\n",
        "  serial::release();\n  if (changes)\n",
        "auto",
        ("changes",),
    ),
    "change-waits-for-ever": Bug(
        "auto: who changes the algorithm waits for a transaction that waits for it",
        "algorithms/automatic.cc",
        "constexpr std::uint32_t kPatience = 20'000;",
        "constexpr std::uint32_t kPatience = 0xffff'ffff;",
        "auto",
        ("automatic",),
    ),
    "never-left": Bug(
        "auto: there is no way out of one transaction at a time, where they are long",
        "algorithms/automatic.cc",
        "  if (may_wait && settings.algorithm == Algorithm::serial) {",
        "  if (false) {",
        "auto",
        ("automatic",),
    ),
    "never-tried": Bug(
        "auto: nothing is measured where transactions nest",
        "algorithms/automatic.h",
        "  return thread.transactions.load() >= thread.look_at;",
        "  return thread.transactions.load() == thread.look_at;",
        "auto",
        ("automatic",),
    ),
    "slower-one-stays": Bug(
        "auto: a trial is won by who takes longer",
        "algorithms/automatic.cc",
        "static_cast<double>(work.commits) / static_cast<double>(work.ns + 1);",
        "static_cast<double>(work.ns) / static_cast<double>(work.commits + 1);",
        "auto",
        ("automatic",),
    ),
    "change-beside-a-short-one": Bug(
        "short sections: who changes the algorithm does not wait for the clock",
        "algorithms/automatic.cc",
        "(sync::global_clock.now.load(std::memory_order_acquire) & 1) != 0 && rounds < kPatience;",
        "false && rounds < kPatience;",
        "auto",
        ("shorts",),
    ),
}
