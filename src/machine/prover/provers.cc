// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/prover/provers.h"

namespace tandem::machine {

std::span<const Prover> provers() {
  static const std::vector<Prover> all = {mesi_snoop_prover(), sparse_directory_prover(),
                                          token_b_prover(),    mosaic_prover(),
                                          flask_prover(),      flask_plus_prover()};
  return all;
}

const Prover *find_prover(std::string_view name) {
  for (const Prover &prover : provers())
    if (prover.name == name)
      return &prover;
  return nullptr;
}

} // namespace tandem::machine
