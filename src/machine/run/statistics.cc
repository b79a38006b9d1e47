// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/run/statistics.h"

namespace tandem::machine {

IntervalStatistics::IntervalStatistics(Machine &machine, std::uint64_t every)
    : machine_(&machine), last_(look()) {
  lines_ = nlohmann::ordered_json{{"format", "tandem-machine-statistics"},
                                  {"version", 1},
                                  {"harts", machine.harts().size()},
                                  {"every", every}}
               .dump() +
           "\n";
}

IntervalStatistics::Point IntervalStatistics::look() const {
  Point point{.instructions = machine_->cores().schedule().instructions,
              .cycles = machine_->cores().schedule().round,
              .retired = {},
              .counts = machine_->counts()};
  for (const auto &hart : machine_->harts())
    point.retired.push_back(hart->state().instret);
  return point;
}

void IntervalStatistics::add() {
  Point now = look();
  nlohmann::ordered_json line{{"instructions", now.instructions},
                              {"cycles", now.cycles},
                              {"ran", now.instructions - last_.instructions},
                              {"passed", now.cycles - last_.cycles}};
  nlohmann::ordered_json retired = nlohmann::ordered_json::array();
  for (std::size_t hart = 0; hart < now.retired.size(); ++hart)
    retired.push_back(now.retired[hart] - last_.retired[hart]);
  line["retired"] = std::move(retired);
  nlohmann::ordered_json counts = nlohmann::ordered_json::object();
  for (std::size_t index = 0; index < now.counts.size(); ++index)
    counts[now.counts[index].first] = now.counts[index].second - last_.counts[index].second;
  line["counts"] = std::move(counts);
  lines_ += line.dump() + "\n";
  last_ = std::move(now);
}

std::string IntervalStatistics::finish() {
  if (machine_->cores().schedule().instructions != last_.instructions)
    add();
  return lines_;
}

} // namespace tandem::machine
