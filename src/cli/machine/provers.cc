// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/machine/provers.h"

#include "cli/common/suggest.h"

#include <fmt/format.h>

namespace tandem::machine_cli {

Result<const machine::Prover *> prover_named(const std::string &name) {
  if (const machine::Prover *prover = machine::find_prover(name))
    return prover;
  std::vector<std::string> names;
  std::string all;
  for (const machine::Prover &prover : machine::provers()) {
    names.emplace_back(prover.name);
    all += fmt::format("{}{}", all.empty() ? "" : ", ", prover.name);
  }
  const std::string close = nearest(name, names);
  return Error{fmt::format("no protocol '{}'; there are {}{}", name, all,
                           close.empty() ? "" : fmt::format("; did you mean '{}'?", close))};
}

} // namespace tandem::machine_cli
