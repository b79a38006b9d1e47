// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an insertion into a presence filter says about the room that is left.
#pragma once

namespace tandem::machine::filter {

struct Inserted {
  bool saturated = false; // a counter is at its largest value: the paper's purge would start now
  bool spilled = false;   // there was no room for the member; it is counted beside the table
};

} // namespace tandem::machine::filter
