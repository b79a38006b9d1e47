// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// strtok, which keeps where it goes on in a variable of the C library. A transaction that begins a
// text keeps that place among its actions, where nested ones that are undone find it as it was, and
// mostly comes to the text's end itself. One that does not becomes irrevocable before it commits:
// then the plain function is brought to the same place.
#include "runtime/library/tokens.h"

#include "runtime/actions/actions.h"
#include "runtime/library/access.h"
#include "runtime/transaction/transaction.h"

#include <cstring>

using namespace tandem;
using namespace tandem::library;

namespace {

// The action whose argument is the place; null when the text has come to its end.
void place(void *) noexcept { __asm__ volatile("# strtok's place"); }

template <class Actions> auto *find(Actions &actions) noexcept {
  for (auto *action = actions.end(); action != actions.begin();)
    if ((--action)->function == place)
      return action;
  return static_cast<decltype(actions.end())>(nullptr);
}

void remember(Thread &thread, char *rest) noexcept {
  UserAction *known = find(thread.user_actions);
  // Entries of a transaction around a nested one must come back as they were.
  if (known != nullptr && thread.checkpoints.empty())
    known->argument = rest;
  else
    actions::add(thread, UserAction{place, rest, true});
}

// Whether `rest` lies where the stack is not in use, or in use by this call and those that it
// makes: it was a local variable's, which is gone.
bool is_gone(const Thread &thread, const char *rest, const void *frame) noexcept {
  constexpr std::uintptr_t kOtherStack = 1 << 16; // of a stack that the system does not know
  const auto at = reinterpret_cast<std::uintptr_t>(rest);
  const auto end = reinterpret_cast<std::uintptr_t>(frame) + 2 * sizeof(void *);
  return at < end + 2 && (at >= thread.stack_low || end - at < kOtherStack);
}

// The plain function can only be brought behind a token that it ends itself: for a moment there is
// one of a letter before `rest`, in the two bytes that the last token and its end have taken.
[[gnu::noinline]] void go_on_at(char *rest) noexcept {
  if (*rest == '\0') {
    std::strtok(rest, "");
    return;
  }
  char kept[2];
  std::memcpy(kept, rest - 2, sizeof kept);
  std::memcpy(rest - 2, "ab", sizeof kept);
  std::strtok(rest - 2, "b");
  std::memcpy(rest - 2, kept, sizeof kept);
}

} // namespace

namespace tandem::library {

bool has_rest(const Thread &thread) noexcept {
  const UserAction *known = find(thread.user_actions);
  return known != nullptr && known->argument != nullptr;
}

[[gnu::noinline]] void hand_rest_over(Thread &thread) noexcept {
  UserAction *known = find(thread.user_actions);
  if (known == nullptr || known->argument == nullptr)
    return;
  auto *rest = static_cast<char *>(known->argument);
  known->argument = nullptr;
  if (!is_gone(thread, rest, __builtin_frame_address(0)))
    go_on_at(rest);
}

} // namespace tandem::library

TANDEM_WRAPPER char *_ZGTt6strtok(char *text, const char *delimiters) {
  Thread *thread = writer();
  if (thread == nullptr)
    return std::strtok(text, delimiters);
  const UserAction *known = find(thread->user_actions);
  if (text == nullptr && known == nullptr) { // the plain function knows where
    transaction::become_irrevocable(*thread, profile::SerialCause::irrevocable_call);
    return std::strtok(nullptr, delimiters);
  }
  char *rest = known == nullptr ? nullptr : static_cast<char *>(known->argument);
  char *token = next_token(text, delimiters, &rest, thread);
  remember(*thread, token == nullptr ? nullptr : rest);
  return token;
}
