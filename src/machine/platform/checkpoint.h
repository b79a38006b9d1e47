// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A board's whole state as a file (docs/formats/machine-checkpoint.md). A board that is restored
// goes on as the one that was saved would have.
#pragma once

#include "base/result.h"
#include "machine/platform/board.h"

#include <memory>
#include <string>

namespace tandem::machine {

// Appears whole or not at all. Error: it cannot be written; a port has a relay, whose connections
// are the host's.
Status save_checkpoint(Board &board, const std::string &path);

// A board as it was saved, with the disks that it had then. Error: no checkpoint, a damaged one,
// one of another version; a disk that has changed since.
Result<std::unique_ptr<Board>> restore_checkpoint(const std::string &path);

} // namespace tandem::machine
