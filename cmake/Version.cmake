# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Run by every build: writes OUTPUT, the source that says what was built (src/base/version.h), where it has changed.
# Given: SOURCE (the checkout), OUTPUT, VERSION, LLVM.
set(commit "")
if(EXISTS ${SOURCE}/.git)
  execute_process(COMMAND git -C ${SOURCE} describe --always --abbrev=12 --exclude=* --dirty=\ modified
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE status)
  if(status EQUAL 0)
    string(PREPEND commit "commit ")
    string(APPEND commit ", ")
  else()
    set(commit "")
  endif()
endif()
set(text "// Written by cmake/Version.cmake.
#include \"base/version.h\"

namespace tandem {

std::string_view version() { return \"${VERSION}\"; }

std::string_view version_text() { return \"${VERSION} (${commit}LLVM ${LLVM})\"; }

} // namespace tandem
")
set(before "")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} before)
endif()
if(NOT before STREQUAL text)
  file(WRITE ${OUTPUT} "${text}")
endif()
