// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/timing/window.h"

#include "base/check.h"

#include <algorithm>
#include <bit>
#include <functional>

namespace tandem::machine {

namespace {

constexpr unsigned kWordBytes = 8;
constexpr unsigned kLineWords = 8;

// The word of a line in which all of `bytes` are; kLineWords: none.
unsigned word_of(std::uint64_t bytes) {
  const auto word = static_cast<unsigned>(std::countr_zero(bytes)) / kWordBytes;
  return bytes != 0 && (bytes & ~(std::uint64_t{0xff} << word * kWordBytes)) == 0 ? word
                                                                                  : kLineWords;
}

} // namespace

Window::Window(const WindowLimits &limits)
    : limits_(limits), slots_(std::bit_ceil(limits.instructions)), mask_(slots_.size() - 1) {
  for (const std::uint32_t units : limits.units)
    CHECK(units >= 1 && units <= kMostUnits, "{} units of a kind, 1 to {}", units, kMostUnits);
  sends_.reserve(2 * slots_.size());
  told_.reserve(slots_.size());
}

// Nothing begins before `now` any more.
void Window::plan_from(Cycle now) {
  if (now <= planned_from_)
    return;
  if (now - planned_from_ >= plan_.size())
    std::ranges::fill(plan_, Begun{});
  else
    for (Cycle at = planned_from_; at < now; ++at)
      begun(at) = {};
  planned_from_ = now;
}

// Twice as far ahead. As far as all in flight, one after the other, at most.
void Window::plan_further() {
  std::vector<Begun> further(2 * plan_.size());
  for (Cycle at = planned_from_; at < planned_from_ + plan_.size(); ++at)
    further[at & (further.size() - 1)] = begun(at);
  plan_ = std::move(further);
}

Cycle Window::take_unit(Unit unit, Cycle from) {
  CHECK(from >= planned_from_, "cycle {} is over at {}", from, planned_from_);
  const auto kind = static_cast<std::size_t>(unit);
  for (Cycle at = from;; ++at) {
    while (at - planned_from_ >= plan_.size())
      plan_further();
    if (std::uint8_t &taken = begun(at)[kind]; taken < limits_.units[kind]) {
      ++taken;
      return at;
    }
  }
}

// Whether the result of `on` is not known yet; else `start` has it.
bool Window::depend(std::uint64_t number, std::uint32_t source, std::uint64_t on) {
  if (!in_flight(on))
    return false;
  const auto slot = static_cast<std::uint32_t>(number & mask_);
  Instruction &one = slots_[slot];
  Instruction &producer = slots_[on & mask_];
  if (producer.ready != kNever) {
    one.start = std::max(one.start, producer.ready);
    return false;
  }
  const std::uint32_t node = slot * kSources + source;
  if (producer.first == kNone)
    producer.first = node;
  else
    slots_[producer.last / kSources].next[producer.last % kSources] = node;
  producer.last = node;
  one.next[source] = kNone;
  ++one.waits;
  return true;
}

bool Window::enter(Cycle now, const Entering &what) {
  CHECK(!full(), "a window of {}", limits_.instructions);
  plan_from(now);
  const std::uint64_t number = tail_++;
  const auto slot = static_cast<std::uint32_t>(number & mask_);
  Instruction &one = slots_[slot];
  one = {.what = what,
         .start = now,
         .ready = kNever,
         .done = kNever,
         .parts = static_cast<std::uint8_t>(what.lines)};
  for (std::uint32_t source = 0; source < what.operands.sources.size(); ++source)
    if (const std::uint8_t from = what.operands.sources[source]; from != kNoRegister)
      depend(number, source, writer_[from]);
  bool forwarded = false;
  if (const unsigned in_line = what.lines == 1 ? word_of(what.bytes) : kLineWords;
      in_line != kLineWords) {
    const std::uint64_t word = what.line[0] * kLineWords + in_line;
    const auto bytes = static_cast<std::uint8_t>(what.bytes >> in_line * kWordBytes);
    Stored &last = stored_[word % kWords];
    if (what.store) {
      last = {word, number, bytes};
    } else if (last.word == word && in_flight(last.number) && (last.bytes & bytes) != 0) {
      depend(number, kSources - 1, last.number);
      forwarded = (bytes & ~last.bytes) == 0;
    }
  }
  if (forwarded) {
    one.parts = 0;
    one.what.latency = limits_.forward;
  }
  if (what.operands.result != kNoRegister)
    writer_[what.operands.result] = number;
  if (one.waits == 0)
    begin(slot); // nobody can wait for it yet
  return forwarded;
}

// All sources are known. Result: whether its own result is.
bool Window::begin(std::uint32_t slot) {
  Instruction &one = slots_[slot];
  one.start = take_unit(one.what.unit, one.start);
  if (one.parts == 0) {
    one.ready = one.done = one.start + one.what.latency;
    return true;
  }
  const std::uint64_t number = head_ + ((slot - head_) & mask_);
  for (std::uint8_t part = 0; part < one.parts; ++part) {
    sends_.push_back({one.start, number, part});
    std::push_heap(sends_.begin(), sends_.end(), std::greater<>());
  }
  if (one.what.store)
    one.ready = one.start + 1; // for loads of what it stores
  return one.what.store;
}

// The result of `slot` is known: so may be those that waited for it.
void Window::tell(std::uint32_t slot) {
  told_.push_back(slot);
  while (!told_.empty()) {
    Instruction &producer = slots_[told_.back()];
    told_.pop_back();
    std::uint32_t node = std::exchange(producer.first, kNone);
    while (node != kNone) {
      const std::uint32_t at = node / kSources;
      Instruction &waiter = slots_[at];
      node = waiter.next[node % kSources];
      waiter.start = std::max(waiter.start, producer.ready);
      if (--waiter.waits == 0 && begin(at))
        told_.push_back(at);
    }
  }
}

std::optional<Window::Send> Window::take_send(Cycle now) {
  plan_from(now);
  if (next_send() > now)
    return std::nullopt;
  std::pop_heap(sends_.begin(), sends_.end(), std::greater<>());
  const Due due = sends_.back();
  sends_.pop_back();
  const auto slot = static_cast<std::uint32_t>(due.number & mask_);
  const Entering &what = slots_[slot].what;
  return Send{slot, what.line[due.part], what.store};
}

void Window::answered(std::uint32_t slot, Cycle at, bool missed) {
  if (missed) {
    --outstanding_;
    plan_from(at);
  }
  Instruction &one = slots_[slot];
  one.answered = std::max(one.answered, at);
  if (--one.parts > 0)
    return;
  one.done = one.answered;
  if (one.what.store)
    return;
  one.ready = one.answered;
  tell(slot);
}

} // namespace tandem::machine
