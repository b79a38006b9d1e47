// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What devices have to do later. Events are plain numbers, so that they can be saved; events of one
// cycle happen in the order in which they were scheduled. For one thread.
#pragma once

#include "machine/archive/archive.h"
#include "machine/event/wheel.h"

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace tandem::machine {

class EventClient {
public:
  virtual ~EventClient() = default;
  // An event that it has scheduled is due.
  virtual void event(Cycle now, std::uint64_t argument) = 0;
};

class EventQueue {
public:
  // Its number for schedule(). Clients register in the same order whenever a machine is made.
  unsigned add(EventClient &client);

  // Called whenever something is scheduled: whoever runs harts may have to look sooner.
  void on_schedule(std::function<void()> call) { on_schedule_ = std::move(call); }

  // At `at`, or at the next chance if that has passed.
  void schedule(Cycle at, unsigned client, std::uint64_t argument);
  // Drops all events of a client.
  void cancel(unsigned client);

  // The cycle of the next event, kNever if there is none.
  [[nodiscard]] Cycle next() const { return events_.empty() ? kNever : events_.front().at; }
  // Does all that is due at `now` or before, and what that schedules until then.
  void run(Cycle now);

  void fields(Archive &archive);

private:
  struct Event {
    Cycle at = 0;
    std::uint64_t order = 0;
    std::uint32_t client = 0;
    std::uint64_t argument = 0;
    void fields(Archive &archive) { archive(at, order, client, argument); }
  };
  static bool later(const Event &a, const Event &b) {
    return a.at != b.at ? a.at > b.at : a.order > b.order;
  }

  std::vector<EventClient *> clients_;
  std::vector<Event> events_; // a heap, the next one first
  std::uint64_t order_ = 0;
  std::function<void()> on_schedule_;
};

} // namespace tandem::machine
