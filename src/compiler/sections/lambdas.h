// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lambdas that run atomically: instances of tandem::atomic (include/tandem/tandem.hpp).
#pragma once

#include "compiler/sections/section.h"

namespace tandem {

// The section of `run`, an instance of tandem::atomic: it is where the lambda is, and named after
// the function that the lambda is written in.
Section section_of_lambda(llvm::Function &run, bool optimised);

} // namespace tandem
