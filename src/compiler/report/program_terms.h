// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of functions as people say them. Reports have the names that the compiler knows, for
// catalogues and other tools; whatever shows one to a person says it in the program's terms.
#pragma once

#include "compiler/report/report.h"

#include <string>
#include <string_view>
#include <vector>

namespace tandem {

// A demangled C++ name without what its author did not write: the library's strings by their usual
// names, without inline namespaces and ABI tags, `Queue<Job>` as it is, `Queue<...>` where the
// arguments are long.
std::string shortened(std::string_view name);

// A function by its symbol, or by its demangled name: one of the program or of a library as the
// program calls it; what only compilers and libraries call by what stands in the source there:
// "call of a pure virtual function", "throw std::system_error", "a part of std::vector",
// "std::thread's start", "sscanf". What is no such name stays as it is.
std::string in_program_terms(std::string_view function);

// The same of several, each once.
std::vector<std::string> in_program_terms(const std::vector<std::string> &functions);

// The same of all functions on the way to an action; what comes twice in a row is there once.
ReportIrrevocable in_program_terms(const ReportIrrevocable &action);

// "f (a.c:3) -> g (b.c:9) -> printf": where each calls the next.
std::string print_chain(const ReportIrrevocable &action, std::string_view arrow = " -> ");

// Whether a demangled name is one of the C++ library.
bool is_of_cxx_library(std::string_view name);

} // namespace tandem
