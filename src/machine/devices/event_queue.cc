// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/devices/event_queue.h"

#include "base/check.h"

#include <algorithm>

namespace tandem::machine {

unsigned EventQueue::add(EventClient &client) {
  clients_.push_back(&client);
  return static_cast<unsigned>(clients_.size() - 1);
}

void EventQueue::schedule(Cycle at, unsigned client, std::uint64_t argument) {
  CHECK(client < clients_.size());
  events_.push_back({.at = at, .order = order_++, .client = client, .argument = argument});
  std::ranges::push_heap(events_, later);
  if (on_schedule_)
    on_schedule_();
}

void EventQueue::cancel(unsigned client) {
  std::erase_if(events_, [client](const Event &event) { return event.client == client; });
  std::ranges::make_heap(events_, later);
}

void EventQueue::run(Cycle now) {
  while (!events_.empty() && events_.front().at <= now) {
    std::ranges::pop_heap(events_, later);
    const Event event = events_.back();
    events_.pop_back();
    clients_[event.client]->event(now, event.argument);
  }
}

void EventQueue::fields(Archive &archive) {
  archive(events_, order_);
  if (std::ranges::any_of(events_,
                          [this](const Event &e) { return e.client >= clients_.size(); })) {
    events_.clear();
    archive.fail();
  }
  std::ranges::make_heap(events_, later);
}

} // namespace tandem::machine
