// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/transaction/describe.h"

#include "runtime/fatal.h"
#include "runtime/profile/symbols.h"
#include "runtime/thread/thread.h"

#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdio>

#include <tandem/abi.h>

namespace tandem::transaction {
namespace {

// Text that is cut where it does not fit.
class Text {
public:
  Text(char *start, std::size_t size) noexcept : at_(start), left_(size) {}

  [[gnu::format(printf, 2, 3)]] void add(const char *format, ...) noexcept {
    std::va_list arguments;
    va_start(arguments, format);
    const int wanted = std::vsnprintf(at_, left_, format, arguments);
    va_end(arguments);
    const std::size_t added = wanted < 0 ? 0 : static_cast<std::size_t>(wanted);
    const std::size_t kept = added < left_ ? added : left_ - 1;
    at_ += kept;
    left_ -= kept;
  }

private:
  char *at_;
  std::size_t left_; // at least 1
};

const char *name_of(Mode mode) noexcept {
  switch (mode) {
  case Mode::idle:
    break;
  case Mode::direct:
    return "serial";
  case Mode::undo:
    return "serial, with an undo log";
  case Mode::eager:
    return "eager";
  case Mode::lazy:
    return "lazy";
  case Mode::norec:
    return "norec";
  case Mode::two_phase:
    return "two-phase";
  case Mode::guarded_by:
    return "with locks that guard their data";
  case Mode::hardware:
    return "in hardware";
  }
  return "at its begin";
}

// `address`: past the place, as a return address is.
void add_place(Text &text, const char *what, std::uint64_t address) noexcept {
  profile::Place place;
  place.address = address - 1;
  profile::find_places(&place, 1);
  text.add(", in the transaction that %s %s", what, place.symbol);
  if (place.line != 0)
    text.add(" (%s:%u)", place.file, place.line);
  else
    text.add("%s%#llx of '%s'", *place.symbol != '\0' ? "+" : "",
             static_cast<unsigned long long>(place.offset), place.output);
}

void describe(char *start, std::size_t size) noexcept {
  const Thread *thread = current_thread;
  if (thread == nullptr || thread->depth == 0)
    return;
  Text text(start, size);
  if (const tandem_section *section = thread->descriptor; section != nullptr)
    text.add(", in the section '%s' (%s:%u)", section->name, section->file, section->line);
  else if (thread->section != 0)
    add_place(text, "runs", thread->section);
  else
    add_place(text, "begins at", thread->jump.target);
  text.add("; %s", name_of(thread->mode));
  if (thread->irrevocable && thread->mode != Mode::hardware)
    text.add(", irrevocable");
  text.add(", attempt %u, nesting %u", thread->restarts + 1, thread->depth & ~(kSpecialDepth - 1));
}

} // namespace

void describe_in_fatal_lines() noexcept { describe_state = describe; }

} // namespace tandem::transaction
