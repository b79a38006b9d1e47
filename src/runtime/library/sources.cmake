# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The engine's transactional versions of library functions.
set(library_sources
  library/clock.cc library/collation.cc library/conditions.cc library/copies.cc library/counters.cc library/deferred.cc library/format.cc library/locks.cc
  library/marshal.cc library/memory.cc library/numbers.cc library/output.cc library/printing.cc library/scratch.cc library/search.cc
  library/sorting.cc library/strings.cc library/terminate.cc library/tokens.cc library/wrappers.cc library/waits.cc)

# Each test program contains the engine, and runs once for each algorithm.
function(tandem_library_test name)
  tandem_engine_program(${name} ${ARGN})
  # The functions are called as the program wrote them.
  target_compile_options(${name} PRIVATE -fno-builtin)
  set_target_properties(${name} PROPERTIES DISABLE_PRECOMPILE_HEADERS ON)
  if(TANDEM_SANITIZE MATCHES address)
    # The engine knows the locals of a transaction by the stack pointer: no frames elsewhere.
    target_compile_options(${name} PRIVATE -fsanitize-address-use-after-return=never)
  endif()
  foreach(algorithm auto serial eager lazy norec)
    add_test(NAME runtime.library.${name}.${algorithm} COMMAND ${name})
    set_tests_properties(runtime.library.${name}.${algorithm} PROPERTIES
      LABELS unit TIMEOUT 120 ENVIRONMENT TANDEM_ALGORITHM=${algorithm})
  endforeach()
endfunction()
