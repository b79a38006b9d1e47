// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// FLASK with our improvements, by the same rows: a token more than there are cores, so that the LLC
// can lend one and keep the data; read-only blocks that were shared stay in the LLC; reconstruction
// in one phase; several counts a row for what finds no cell in the filter; full counters purge
// nothing. No result of it is one of the paper's protocol.
//
// Why each: docs/design/0030-timed-comparison.md, docs/design/0090-flask-as-written.md.
#pragma once

#include "machine/protocol/flask/flask.h"

namespace tandem::machine {

namespace flask {

struct Improved {
  static constexpr bool kTwoPhase = false, kSharedStays = true, kSpareToken = true, kPurge = false,
                        kSpillGroups = true;
};

} // namespace flask

struct FlaskPlus : flask::Variant<FlaskPlus, flask::Improved> {
  static constexpr const char *kName = "flask-plus";
  static constexpr const char *kSummary =
      "FLASK, improved: the LLC lends tokens of read-only blocks; one-phase reconstruction";
  static constexpr ConfigField<Config> kConfigFields[] = {kTwoPhase, kChipScope, kSharedStays,
                                                          kLightPut, kPurge,     kSpillGroups};
};

} // namespace tandem::machine
