# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Everything the build needs comes from Debian's packages; scripts/setup installs them.
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(LLVM 19.1 REQUIRED CONFIG HINTS /usr/lib/llvm-19/lib/cmake/llvm)
find_package(Clang REQUIRED CONFIG HINTS /usr/lib/llvm-19/lib/cmake/clang)
if(BUILD_TESTING)
  find_package(GTest REQUIRED)
  include(GoogleTest)
endif()

# LLVM as one shared library, the same that Debian's clang, lld and opt load: a plugin that links it shares
# their copy. Its headers are not ours to warn about.
add_library(tandem_llvm_headers INTERFACE)
target_include_directories(tandem_llvm_headers SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
separate_arguments(TANDEM_LLVM_DEFINITIONS NATIVE_COMMAND "${LLVM_DEFINITIONS}")
target_compile_definitions(tandem_llvm_headers INTERFACE ${TANDEM_LLVM_DEFINITIONS})
add_library(tandem_llvm INTERFACE)
target_link_libraries(tandem_llvm INTERFACE tandem_llvm_headers LLVM)
