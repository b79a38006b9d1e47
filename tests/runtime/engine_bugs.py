# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The bugs that mutants.py puts into the engine: what each replaces, and who may find it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Bug:
    """`old`, which must occur once in `file` below src/runtime/, becomes `new`."""

    what: str
    file: str
    old: str
    new: str
    algorithm: str
    programs: tuple[str, ...]


QUIESCE = """  if (thread.known_quiesced < time)
    sync::quiesce(time);"""

BUGS = {
    "eager-commit-unvalidated": Bug(
        "eager: a commit does not validate its reads",
        "algorithms/orec.cc",
        """    return false;
  release_all(thread, time);
  thread.reads.truncate(kFirstRead);
  return true;
}

void roll_back_eager""",
        """    (void)0;
  release_all(thread, time);
  thread.reads.truncate(kFirstRead);
  return true;
}

void roll_back_eager""",
        "eager",
        ("opacity", "opaque", "micro"),
    ),
    "eager-short-commit-unvalidated": Bug(
        "eager: a commit without a wait does not validate its reads",
        "transaction/transaction.cc",
        "    if (time != thread.snapshot + 1)\n      return false;",
        "    if (time == 0)\n      return false;",
        "eager",
        ("opacity", "opaque", "micro"),
    ),
    "extension-unvalidated": Bug(
        "orecs: the snapshot moves to the present without validation",
        "algorithms/orec.cc",
        "  if (!reads_are_current(thread))\n    return false;\n  thread.snapshot = now;",
        "  thread.snapshot = now;",
        "eager",
        ("opacity", "opaque", "micro"),
    ),
    "late-timestamp": Bug(
        "orecs: versions one above the snapshot count as old",
        "algorithms/orec.h",
        "  return snapshot << kVersionShift | ((1 << kVersionShift) - 1);",
        "  return (snapshot + 1) << kVersionShift | ((1 << kVersionShift) - 1);",
        "eager",
        ("opacity", "opaque", "micro"),
    ),
    "orec-read-once": Bug(
        "orecs: a read does not look at the orec again after the data",
        "algorithms/orec.h",
        "  if (orec.load(std::memory_order_relaxed) != word || word > thread->limit ||",
        "  if (word > thread->limit ||",
        "eager",
        ("opacity", "opaque", "micro"),
    ),
    "lost-undo": Bug(
        "eager: what an aborted transaction wrote stays",
        "transaction/steps.cc",
        "      old.cell.store(old.value);",
        "      (void)old;",
        "eager",
        ("opacity", "nesting", "opaque"),
    ),
    "undo-forwards": Bug(
        "eager: the undo log is played oldest first, so the last value of a place wins",
        "transaction/steps.cc",
        "    const memory::CellValue old = thread.undo.pop();",
        "    static std::size_t at = 0; if (at >= thread.undo.size()) at = 0;\n"
        "    const memory::CellValue old = thread.undo[at++]; "
        "if (at == thread.undo.size()) { thread.undo.truncate(size); at = 0; }",
        "eager",
        ("opacity", "nesting", "types"),
    ),
    "lazy-commit-unvalidated": Bug(
        "lazy: a commit does not validate its reads",
        "algorithms/orec.cc",
        "    return false;\n  thread.writes.write_back();",
        "    (void)0;\n  thread.writes.write_back();",
        "lazy",
        ("opacity", "opaque", "micro"),
    ),
    "lazy-unlocked-write-back": Bug(
        "lazy: readers of a held orec go on",
        "algorithms/orec.cc",
        "    if (word > thread->limit) {\n      if ((word & kHeld) != 0)\n        meet_holder",
        "    if (word > thread->limit && (word & kHeld) == 0) {\n      if ((word & kHeld) != 0)\n"
        "        meet_holder",
        "lazy",
        ("opacity", "opaque", "micro"),
    ),
    "norec-unvalidated": Bug(
        "norec: values that changed are not noticed",
        "algorithms/norec.cc",
        "      if (read.cell.load() != read.value && !is_private(read.cell.address(), &thread)) {",
        "      if (read.cell.load() != read.value && thread.depth == 0) {",
        "norec",
        ("opacity", "opaque", "micro"),
    ),
    "norec-stale-read": Bug(
        "norec: a read does not look at the clock",
        "algorithms/norec.h",
        "    if (S::clock(thread).load(std::memory_order_relaxed) != thread->snapshot ||\n"
        "        thread->values.full()) [[unlikely]]",
        "    if (thread->values.full()) [[unlikely]]",
        "norec",
        ("opacity", "opaque", "micro"),
    ),
    "norec-even-too-early": Bug(
        "norec: the clock is even again before the data is written back",
        "algorithms/norec.h",
        "  thread.writes.write_back();\n  if (!thread.additions.empty()) [[unlikely]]\n"
        "    additions::apply(thread);\n"
        "  sync::global_clock.now.store(time, std::memory_order_release);",
        "  sync::global_clock.now.store(time, std::memory_order_release);\n"
        "  thread.writes.write_back();",
        "norec",
        ("opacity", "opaque", "micro"),
    ),
    "norec-commit-unvalidated": Bug(
        "norec: a commit takes the clock although others have committed",
        "algorithms/norec.h",
        "  std::uint64_t before = thread.snapshot;\n  time",
        "  std::uint64_t before = sync::global_clock.now.load() & ~std::uint64_t{1};\n  time",
        "norec",
        ("opacity", "opaque", "micro"),
    ),
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
    "no-quiescence": Bug(
        "eager: nobody waits after a commit",
        "sync/quiescence.h",
        "    if (seen != 0 && seen < newest) [[unlikely]]\n      wait_for(i, newest);",
        "    (void)seen;",
        "eager",
        ("opacity", "privatise"),
    ),
    "no-proxy-quiescence": Bug(
        "eager: a read-only transaction does not wait for those before it",
        "transaction/steps.h",
        QUIESCE,
        "  if (time != thread.snapshot) sync::quiesce(time);",
        "eager",
        ("opacity", "privatise"),
    ),
    "norec-frames-written-back": Bug(
        "norec: what a function returns into its caller's frame waits for the commit",
        "algorithms/norec.cc",
        "  if (!in_outer_frame(address, thread))\n    return put(address, value, thread);",
        "  return put(address, value, thread);",
        "norec",
        ("frames",),
    ),
    "norec-frames-unlocked": Bug(
        "norec: a write in place does not make the clock odd",
        "algorithms/norec.cc",
        "  if (!acquire_clock(*thread))\n    transaction::restart",
        "  if (thread->depth == 0)\n    transaction::restart",
        "norec",
        ("frames",),
    ),
    "alone-too-early": Bug(
        "alone: who wants to be alone does not wait for the others",
        "irrevocable/serial.cc",
        "  if (settings.algorithm == Algorithm::serial)\n    return;",
        "  if (settings.algorithm != Algorithm::serial || thread == nullptr)\n    return;",
        "eager",
        ("opacity", "process"),
    ),
    "alone-unseen": Bug(
        "alone: a beginning transaction does not look whether somebody is alone",
        "transaction/steps.h",
        "    if (!serial::taken() && !(kGuarded && guarded::taken(thread))) [[likely]] {",
        "    if (true) {",
        "norec",
        ("opacity", "process"),
    ),
    "hardware-untimed": Bug(
        "htm: a commit beside software does not move the clock",
        "transaction/hardware.cc",
        "    sync::global_clock.now.store(time, std::memory_order_relaxed);",
        "    (void)0;",
        "htm",
        ("opacity",),
    ),
    "hardware-beside-serial": Bug(
        "htm: a hardware transaction runs beside one that is alone",
        "transaction/hardware.cc",
        "  if (serial::taken())\n    hardware::abort<Code::serial>();",
        "  (void)0;",
        "htm",
        ("opacity",),
    ),
    "hardware-unquiesced": Bug(
        "htm: a commit waits for no software that may still read what it took out",
        "transaction/hardware.cc",
        "  if (time != 0)\n    sync::quiesce(time);",
        "  (void)0;",
        "htm",
        ("privatise",),
    ),
    "hardware-cancels-all": Bug(
        "htm: cancelling a nested transaction cancels the outermost one",
        "transaction/hardware.cc",
        "  if (all && (thread.properties & itm::kHasNoAbort) == 0)",
        "  if (all || thread.depth != 0)",
        "htm",
        ("nesting",),
    ),
    "hardware-undo-action": Bug(
        "htm: an undo action is registered in hardware, and undone with it",
        "abi/itm_control.cc",
        "  transaction::leave_hardware(thread); // whose abort would undo this too",
        "",
        "htm",
        ("handlers",),
    ),
    "additions-overwrite": Bug(
        "additions: what is put off replaces what is there",
        "algorithms/additions.cc",
        "addition.cell.store(addition.cell.load() + addition.value);",
        "addition.cell.store(addition.value);",
        "norec",
        ("additions",),
    ),
    "additions-stay": Bug(
        "additions: the list stays after the commit, and is added once more",
        "algorithms/additions.cc",
        "addition.cell.load() + addition.value);\n  thread.additions.clear();",
        "addition.cell.load() + addition.value);",
        "norec",
        ("additions",),
    ),
    "additions-unfolded": Bug(
        "additions: an access to the same word does not see what was put off",
        "algorithms/additions.cc",
        "  if (entry != nullptr && waits(thread, *entry))\n    add_now",
        "  if (entry == nullptr && waits(thread, *entry))\n    add_now",
        "lazy",
        ("additions",),
    ),
    "additions-other-half": Bug(
        "additions: an addition to the other half of a word goes to the first one's",
        "algorithms/additions.cc",
        "    if (known.cell == Cell(address)) {",
        "    if (entry != nullptr) {",
        "norec",
        ("additions",),
    ),
    "additions-nested": Bug(
        "additions: what a nested transaction puts off outlives its cancel",
        "algorithms/additions.cc",
        "memory::aligned(address) && thread.checkpoints.empty() &&",
        "memory::aligned(address) &&",
        "norec",
        ("additions",),
    ),
    "additions-unlocked": Bug(
        "additions: eager adds at the commit without the record",
        "algorithms/additions.cc",
        "    orec::acquire(thread, orec::of(reinterpret_cast<const void *>"
        "(addition.cell.address())));",
        "",
        "eager",
        ("additions",),
    ),
    "additions-unfolded-stripe": Bug(
        "additions: a record is acquired without folding what waits for its stripe",
        "algorithms/additions.cc",
        "    if (&orec::of(place) == &orec) {",
        "    if (&orec::of(place) == nullptr) {",
        "eager",
        ("additions",),
    ),
    "additions-conflict": Bug(
        "additions: an inlined one reads although they are to be put off",
        "abi/inline_barriers.cc",
        "if (thread->puts_off != 0 || !Norec::add",
        "if (thread->depth == 0 || !Norec::add",
        "norec",
        ("additions",),
    ),
    "inlined-other-mode": Bug(
        "inlined accesses: a write of NOrec's where the algorithm changed at the begin",
        "transaction/steps.h",
        "    norec::forget_reads(thread); // the other's",
        "    // the other's",
        "norec",
        ("additions",),
    ),
    "inlined-unaligned": Bug(
        "inlined accesses: a write that spans two words goes to the first",
        "algorithms/barriers.h",
        "return std::rotr(above, kShift) >> (3 - kShift) >=",
        "return above >> 3 >=",
        "norec",
        ("additions",),
    ),
    "inlined-unaligned-read": Bug(
        "inlined accesses: a read that spans two words looks for writes of the first",
        "algorithms/norec.h",
        "(end >= thread->values_end || !memory::aligned(address) ||",
        "(end >= thread->values_end ||",
        "norec",
        ("additions",),
    ),
    "inlined-read-behind": Bug(
        "inlined accesses: a read does not look for what the transaction wrote",
        "algorithms/write_back.h",
        "  const WordPart<U> part(address);\n  note_write(*thread, part.word);\n  return thread",
        "  const WordPart<U> part(address);\n  return thread",
        "norec",
        ("additions",),
    ),
    "inlined-other-algorithm": Bug(
        "inlined accesses: the next transaction's reads are taken for NOrec's",
        "algorithms/norec.h",
        "  thread.quick_end = thread.values_end = nullptr;\n  thread.values.clear();",
        "  thread.values.clear();",
        "norec",
        ("additions",),
    ),
    "wait-first-stripe": Bug(
        "waiting: of a read that spans two stripes only the first one wakes",
        "algorithms/norec.cc",
        "const std::uintptr_t last = read.cell.address() + read.cell.bytes() - 1;",
        "const std::uintptr_t last = read.cell.address();",
        "norec",
        ("additions",),
    ),
    "inlined-nested": Bug(
        "inlined accesses: a nested transaction's writes are not journalled",
        "transaction/nested.cc",
        "  thread.writes.forbid_quick(); // its writes are journalled",
        "",
        "norec",
        ("additions",),
    ),
    "inlined-log-moved": Bug(
        "inlined accesses: a write goes where the write set was before it grew",
        "memory/write_map.cc",
        "  if (quick_limit_ != nullptr)\n    allow_quick();\n",
        "",
        "norec",
        ("additions",),
    ),
    "inlined-full": Bug(
        "inlined accesses: a read goes past the end of its log",
        "algorithms/norec.h",
        "    if (end >= thread->quick_end &&",
        "    if (thread->quick_end == nullptr &&",
        "norec",
        ("additions",),
    ),
    "inlined-own-write-missed": Bug(
        "inlined accesses: an addition forgets what the transaction wrote there",
        "memory/write_map.h",
        "(entry.value & ~mask) | ((entry.value + by) & mask);",
        "(entry.value & ~mask) | ((value + by) & mask);",
        "norec",
        ("additions",),
    ),
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
        "transaction/transaction.cc",
        "  thread.mark->exchange(encode_mark(time));\n  if (serial::taken() || "
        "settings.algorithm.load(std::memory_order_relaxed) != kAlgorithm)",
        "  for (int i = 0; i < 1000; ++i)\n    __builtin_ia32_pause();\n"
        "  thread.mark->exchange(encode_mark(time));\n  if (serial::taken())",
        "auto",
        ("automatic",),
    ),
    "change-without-the-word": Bug(
        "auto: transactions begin while the algorithm changes",
        "algorithms/automatic.cc",
        "  if (rounds < kPatience) {\n",
        "  serial::release();\n  if (rounds < kPatience) {\n",
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
    "never-tried": Bug(
        "auto: nothing is measured where transactions nest",
        "algorithms/automatic.h",
        "kTransactionsPerLook = 251;",
        "kTransactionsPerLook = 256;",
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
    "short-beside-one-that-is-alone": Bug(
        "short sections: one with the clock does not look whether somebody is alone",
        "transaction/short.cc",
        "  if (serial::taken() || !runs_by(Algorithm::norec)) [[unlikely]] {",
        "  if (!runs_by(Algorithm::norec)) [[unlikely]] {",
        "norec",
        ("shorts",),
    ),
    "alone-beside-a-short-one": Bug(
        "short sections: who will be alone does not wait for the clock",
        "irrevocable/serial.cc",
        "  if (settings.algorithm == Algorithm::norec && !own)",
        "  if (false)",
        "norec",
        ("shorts",),
    ),
    "short-with-locks-beside-one-that-is-alone": Bug(
        "short sections: one with locks does not look whether somebody is alone",
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
    "change-beside-a-short-one": Bug(
        "short sections: who changes the algorithm does not wait for the clock",
        "algorithms/automatic.cc",
        "(sync::global_clock.now.load(std::memory_order_acquire) & 1) != 0 && rounds < kPatience;",
        "false && rounds < kPatience;",
        "auto",
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
    "apart-beside-one-that-is-alone": Bug(
        "locks that stay apart: a short section does not look whether somebody is alone",
        "abi/inline_barriers.cc",
        "(thread->serial_word->load(std::memory_order_acquire) == serial::kFree)",
        "(thread->serial_word != nullptr)",
        "norec",
        ("locks-apart",),
    ),
    "alone-beside-one-apart": Bug(
        "locks that stay apart: who will be alone does not wait for their words",
        "irrevocable/serial.cc",
        "  apart::wait_for_short_ones();",
        "  (void)thread;",
        "norec",
        ("locks-apart",),
    ),
    "apart-with-others": Bug(
        "locks that stay apart: two sections hold one",
        "transaction/apart.cc",
        "seen == kFree && word.value.compare_exchange_strong(seen, holder)",
        "(word.value.exchange(holder), seen != kUnused)",
        "norec",
        ("locks-apart",),
    ),
    "apart-only-in-short-ones": Bug(
        "locks that stay apart: transactions do not hold them",
        "transaction/apart.cc",
        "thread.mode >= Mode::eager && thread.mode != Mode::hardware && !hardware::in_use()",
        "thread.mode == Mode::idle",
        "two-phase",
        ("locks-apart",),
    ),
    "apart-never-left": Bug(
        "locks that stay apart: a short commit keeps them",
        "transaction/transaction.cc",
        "  if (!thread.apart.empty())\n    return commit_apart(thread);",
        "",
        "norec",
        ("locks-apart",),
    ),
    "apart-released-before-the-undoing": Bug(
        "locks that stay apart: a restart gives them up before it has undone its writes",
        "transaction/steps.cc",
        "  play_back(thread, 0, thread.jump.stack);\n  switch (thread.mode) {",
        "  apart::leave(thread);\n"
        "  play_back(thread, 0, thread.jump.stack);\n  switch (thread.mode) {",
        "eager",
        ("locks-apart",),
    ),
    "short-with-others": Bug(
        "short sections: two of them hold the clock",
        "transaction/short.cc",
        "compare_exchange_strong(time, time + 1)) [[likely]]",
        "load() == time) [[likely]]",
        "norec",
        ("shorts",),
    ),
}
