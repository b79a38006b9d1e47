# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bugs of eager and lazy, which have ownership records."""

from __future__ import annotations

from bugs.bug import Bug

QUIESCE = """  if (thread.known_quiesced < time)
    sync::quiesce(time);"""

ORECS = {
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
        "  if (!conflict::may_look_again(thread, thread.reads.size()) || "
        "!reads_are_current(thread))\n    return false;\n  thread.snapshot = now;",
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
        "    if (word <= thread->limit) [[likely]] {",
        "    if (word <= thread->limit || (word & kHeld) != 0) [[likely]] {",
        "lazy",
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
    "serial-too-early": Bug(
        "serial: who wants to run serially does not wait for the others",
        "irrevocable/serial.cc",
        "  if (settings.algorithm == Algorithm::serial)\n    return;",
        "  if (settings.algorithm != Algorithm::serial || thread == nullptr)\n    return;",
        "eager",
        ("opacity", "process"),
    ),
    "additions-unfolded": Bug(
        "additions: an access to the same word does not see what was put off",
        "algorithms/additions.cc",
        "  if (entry != nullptr && waits(thread, *entry))\n    add_now",
        "  if (entry == nullptr && waits(thread, *entry))\n    add_now",
        "lazy",
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
    "guarded-by-released-before-the-undoing": Bug(
        "locks that guard their data: a restart gives them up before it has undone its writes",
        "transaction/steps.cc",
        "  play_back(thread, 0, thread.jump.stack);\n  switch (thread.mode) {",
        "  guarded_by::leave(thread);\n"
        "  play_back(thread, 0, thread.jump.stack);\n  switch (thread.mode) {",
        "eager",
        ("locks-guarded-by",),
    ),
    "in-place-without-a-log": Bug(
        "Mode::guarded_by: a word that is overwritten is not logged",
        "abi/inline_barriers.cc",
        "    thread->undo.push_unchecked(",
        "    if constexpr (sizeof(TYPE) != 8) thread->undo.push_unchecked(",
        "eager",
        ("guarded_by_mode",),
    ),
    "in-place-what-others-guard": Bug(
        "Mode::guarded_by: it goes on where it comes to another lock",
        "transaction/guarded_by.cc",
        "  if (thread.mode == Mode::guarded_by) {\n    skip_of(thread) = kSkips;",
        "  if (thread.mode == Mode::guarded_by)\n    return;\n  if (false) {",
        "lazy",
        ("guarded_by_mode",),
    ),
    "in-place-until-a-change": Bug(
        "Mode::guarded_by: it sleeps for a change of what it has not logged",
        "transaction/transaction.cc",
        "    guarded_by::join(thread); // nothing says what it has read",
        "    ;",
        "eager",
        ("guarded_by_mode",),
    ),
}
