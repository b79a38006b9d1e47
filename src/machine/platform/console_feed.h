// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Brings typed characters to the console's device, at the speed of a serial line of 115,200 baud,
// once somebody inside listens. For one thread.
#pragma once

#include "machine/devices/console.h"
#include "machine/devices/event_queue.h"

#include <cstdint>
#include <deque>
#include <string_view>

namespace tandem::machine {

class ConsoleFeed final : public EventClient {
public:
  // Ten bits a character at 115,200 baud, in cycles of 1 GHz.
  static constexpr Cycle kCharacter = 86'806;

  ConsoleFeed(ConsoleReceiver &receiver, EventQueue &events)
      : receiver_(&receiver), events_(&events), client_(events.add(*this)) {}

  // Appends to what is on its way. Characters arrive at multiples of kCharacter, so that what was
  // typed before anybody listened arrives at the same cycles, whenever that was.
  void type(std::string_view text, Cycle now) {
    if (text.empty())
      return;
    if (waiting_.empty())
      events_->schedule((now / kCharacter + 1) * kCharacter, client_, 0);
    waiting_.insert(waiting_.end(), text.begin(), text.end());
  }
  [[nodiscard]] bool listening() const { return receiver_->listening(); }
  [[nodiscard]] bool empty() const { return waiting_.empty(); }

  void event(Cycle now, std::uint64_t /*argument*/) override {
    if (!waiting_.empty() && receiver_->listening() && receiver_->receive(waiting_.front()))
      waiting_.pop_front();
    if (!waiting_.empty())
      events_->schedule((now / kCharacter + 1) * kCharacter, client_, 0);
  }

  void fields(Archive &archive) { archive(waiting_); }

private:
  ConsoleReceiver *receiver_;
  EventQueue *events_;
  unsigned client_;
  std::deque<std::uint8_t> waiting_;
};

} // namespace tandem::machine
