// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The targets for libFuzzer; TANDEM_FUZZ names the one (scripts/fuzz).
#include "tests/fuzz/targets.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {
const tandem::fuzz::Target *chosen = nullptr;
}

extern "C" int LLVMFuzzerInitialize(int *, char ***) {
  const char *name = std::getenv("TANDEM_FUZZ");
  for (const tandem::fuzz::Target &target : tandem::fuzz::targets())
    if (name != nullptr && target.name == name)
      chosen = &target;
  if (chosen != nullptr)
    return 0;
  std::fprintf(stderr, "TANDEM_FUZZ: name one of");
  for (const tandem::fuzz::Target &target : tandem::fuzz::targets())
    std::fprintf(stderr, " %s", std::string(target.name).c_str());
  std::fputs("\n", stderr);
  std::exit(2);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  chosen->run({reinterpret_cast<const char *>(data), size});
  return 0;
}
