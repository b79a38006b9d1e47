// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What drives the timed system here: cores with traffic, or with a script. One type for both, so
// that the system is compiled once for each protocol: that is most of what building the machine
// takes.
#pragma once

#include "machine/simulation/script.h"
#include "machine/traffic/cores.h"

namespace tandem::machine::simulation {

// A client of timed/system.h, for one thread. The cores must outlive it.
class Driver {
public:
  explicit Driver(TrafficCores &cores) : traffic_(&cores) {}
  explicit Driver(ScriptCores &cores) : script_(&cores) {}

  template <class S> void step(S &system, unsigned core) {
    if (traffic_ != nullptr)
      traffic_->step(system, core);
    else
      script_->step(system, core);
  }

  template <class S> void complete(S &system, unsigned core, const Completion &done) {
    if (traffic_ != nullptr)
      traffic_->complete(system, core, done);
    else
      script_->complete(system, core, done);
  }

  template <class S>
  std::uint64_t refusing(S &, unsigned core, const Request &request, std::uint64_t asked) {
    return script_ != nullptr ? script_->refusing(core, request, asked) : 0;
  }
  template <class S> void refused(S &, unsigned) {}
  template <class S> void prevailed(S &, unsigned) {}
  template <class S> bool marked(S &, unsigned, std::uint64_t) {
    return script_ != nullptr && script_->marked();
  }

private:
  TrafficCores *traffic_ = nullptr; // or
  ScriptCores *script_ = nullptr;
};

} // namespace tandem::machine::simulation
