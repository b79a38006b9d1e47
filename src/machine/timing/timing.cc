// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/timing/timing.h"

#include "machine/protocol/flask/flask.h"
#include "machine/protocol/flask/flask_plus.h"
#include "machine/protocol/mesi_snoop/mesi_snoop.h"
#include "machine/protocol/mosaic/mosaic.h"
#include "machine/protocol/sparse_directory/sparse_directory.h"
#include "machine/protocol/token_b/token_b.h"

#include <fmt/format.h>

namespace tandem::machine {

namespace timing {
template <class P>
std::unique_ptr<TimedCores> make(const TimingOptions &options, Harts &harts, Clock &clock,
                                 Agenda *agenda); // timing_PROTOCOL.cc
} // namespace timing

Result<std::unique_ptr<TimedCores>> TimedCores::make(const std::string &protocol,
                                                     const TimingOptions &options, Harts &harts,
                                                     Clock &clock, Agenda *agenda) {
  const Result<const ProtocolEntry *> entry = find_protocol(protocol);
  if (!entry)
    return entry.error();
  if (Status fits = check_fit(options.configuration, **entry); !fits)
    return fits.error();
  if (options.configuration.cores != harts.size())
    return Error{fmt::format("the machine has {} cores, and there are {} harts",
                             options.configuration.cores, harts.size())};
  using Make = std::unique_ptr<TimedCores> (*)(const TimingOptions &, Harts &, Clock &, Agenda *);
  const std::pair<const char *, Make> makers[] = {
      {MesiSnoop::kName, timing::make<MesiSnoop>},
      {TokenB::kName, timing::make<TokenB>},
      {SparseDirectory::kName, timing::make<SparseDirectory>},
      {Mosaic::kName, timing::make<Mosaic>},
      {Flask::kName, timing::make<Flask>},
      {FlaskPlus::kName, timing::make<FlaskPlus>},
  };
  for (const auto &[name, maker] : makers)
    if (protocol == name)
      return maker(options, harts, clock, agenda);
  return Error{fmt::format("protocol '{}' has no cores with timing", protocol)};
}

} // namespace tandem::machine
