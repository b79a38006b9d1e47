// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/report/rules.h"

#include "base/check.h"

#include <algorithm>
#include <array>

namespace tandem {
namespace {

constexpr std::array kRules{
    Rule{"condition-in-section", "a condition variable is tied to a section",
         "A section that waits for a condition gives its lock up in the middle: what it did before "
         "the wait becomes visible, so the section is really two. A transaction cannot sleep until "
         "another section, which it excludes, has changed what it waits for.\n"
         "Split the section at the wait, or move the wait to its beginning or its end.",
         RuleLevel::warning, false},
    Rule{"different-locks", "a location is touched under locks that do not exclude each other",
         "One thread touches it with one lock held, another with a second one, and one of the two "
         "writes. Each lock excludes the threads that take it and no other.\n"
         "Guard the location by one lock everywhere.",
         RuleLevel::warning, false},
    Rule{
        "hidden-pointer", "a pointer is used that may have been hidden in a number or in bytes",
        "It counts as pointing to every object whose address was hidden so. Sections then conflict "
        "that need not.\n"
        "Keep the address in a pointer, or say in a catalogue what the function does with it.",
        RuleLevel::note, false},
    Rule{
        "irrevocable-in-section", "a section may do what cannot be undone",
        "Input and output, system calls and unknown external functions cannot be rolled back. A "
        "section that reaches one excludes all sections that share a colour with it for as long as "
        "it runs; on a path that is often taken this serialises the program.\n"
        "Move the call out of the section: remember what to print and print it afterwards. Where "
        "the function is harmless, say so in a catalogue.",
        RuleLevel::warning, true},
    Rule{"lock-in-handler", "a signal handler waits for a lock that other code takes",
         "The signal may come while its own thread holds the lock: the handler then waits for what "
         "only "
         "the code behind it would release, for ever.\n"
         "Block the signal while the lock is held, try the lock, or leave the work to a thread.",
         RuleLevel::warning, false},
    Rule{"lock-in-section", "an atomic section takes a lock of the program",
         "A thread that holds this lock and enters a section may wait for one that is in the "
         "section "
         "and waits for the lock: a deadlock.\n"
         "Take the lock before the section, or make what the lock protects part of the section.",
         RuleLevel::warning, true},
    Rule{"lock-order", "locks are taken in different orders",
         "One path takes lock A and then B, another takes B and then A. Two threads that each have "
         "the first wait for each other for ever.\n"
         "Take the locks in one order everywhere, or use one lock.",
         RuleLevel::warning, false},
    Rule{
        "missing-unlock", "a lock is not released on every way out of a function",
        "The function releases the lock on some ways to its end and not on others. The next thread "
        "that takes it waits for ever.\n"
        "Release it on every way, or say in a comment who does.",
        RuleLevel::warning, false},
    Rule{"possible-race", "a location may be touched by two threads without a lock in common",
         "As different-locks and unguarded-access, but that the two touch one object, or that the "
         "access is meant to be a plain one, is less certain: they have it by pointers, in an "
         "array, or by an atomic or volatile access.\n"
         "Look whether both can be about one object; guard it by one lock if so.",
         RuleLevel::note, false, true},
    Rule{"rapid-relock", "a lock is released and soon taken again",
         "Between two critical sections of one lock there is little work. The lock is handed over "
         "needlessly, and what the first section found out may be wrong in the second.\n"
         "Join the two sections, or keep a copy of what the second needs.",
         RuleLevel::warning, false},
    Rule{"strict-atomicity", "a strictly atomic section may do what cannot be undone",
         "The section is marked TANDEM_ATOMIC_STRICT: it promises to be revocable, and a call that "
         "it reaches is not.\n"
         "Move the call out of the section, or drop the promise with TANDEM_ATOMIC.",
         RuleLevel::error, true},
    Rule{"unguarded-access", "threads touch a location without any lock",
         "Two threads may touch it at the same time, one of them writes, and none of them holds a "
         "lock: what the other one sees is not defined.\n"
         "Guard it by a lock, put it into a section, or make it atomic.",
         RuleLevel::warning, false},
    Rule{
        "unprotected-access", "a location is touched in a section and also outside all",
        "Sections exclude each other, not the code around them. An access outside every section "
        "may "
        "see, or destroy, what a section has half done.\n"
        "Put the access into a section. Where it is right as it is (before the threads start, or a "
        "value that may be old), allow it with a reason.",
        RuleLevel::warning, false},
    Rule{"unused-suppression", "a suppression suppresses nothing",
         "No finding matches it: what it allowed has gone, or its rule, file or line is not what "
         "was "
         "meant.\n"
         "Remove it, or correct it.",
         RuleLevel::warning, false},
    Rule{"volatile-reread", "a volatile variable is read again in a chain of decisions",
         "Each test of the chain reads the variable anew, and another thread may change it in "
         "between: no branch need be taken, or one that contradicts an earlier test.\n"
         "Read the variable once into a local one, or decide inside a section.",
         RuleLevel::warning, false},
};

static_assert(std::ranges::is_sorted(kRules, {}, &Rule::name));

} // namespace

std::string_view to_string(RuleLevel level) {
  switch (level) {
  case RuleLevel::error:
    return "error";
  case RuleLevel::warning:
    return "warning";
  case RuleLevel::note:
    return "note";
  }
  CHECK(false, "rule level {}", static_cast<int>(level));
}

std::span<const Rule> rules() { return kRules; }

const Rule *find_rule(std::string_view name) {
  const auto found = std::ranges::find(kRules, name, &Rule::name);
  return found == kRules.end() ? nullptr : &*found;
}

} // namespace tandem
