# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Precompiled headers: what takes most of the time of most files is the same few foreign headers (processor time of
# points_to/solver.cc 10.1 s without, 3.8 s with them; of proxy/kernel_files.cc 4.4 and 2.7 s). Only foreign headers are
# in here, so that a change of ours never makes everything be built again.
# Files still include what they use.
# Programs are compiled as libraries are: a precompiled header serves one kind of code only, and nothing that is timed
# is in a program's own files.
set(CMAKE_CXX_COMPILE_OPTIONS_PIE -fPIC)
# CMake's own options say the header's path behind -Xclang, where ccache does not make it relative: another tree would
# share nothing.
set(CMAKE_CXX_COMPILE_OPTIONS_USE_PCH -include-pch <PCH_FILE>)
option(TANDEM_PRECOMPILED "compile the headers of the standard library, LLVM, nlohmann-json and GoogleTest once" ON)

# What ccache takes for the content of a precompiled header: the list and the packages that its headers come from.
# The file itself has the paths of this build tree inside, so that no other tree would share results with this one.
function(tandem_precompiled_sum name headers packages)
  execute_process(
    COMMAND dpkg-query --show clang-19 libstdc++-12-dev libc6-dev libfmt-dev ${packages}
    OUTPUT_VARIABLE versions ERROR_QUIET RESULT_VARIABLE status)
  set(file ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${name}.dir/cmake_pch.hxx.pch.sum)
  if(status EQUAL 0)
    string(SHA256 sum "${versions} ${headers} ${CMAKE_BUILD_TYPE} ${TANDEM_SANITIZE}")
    file(WRITE ${file} "${sum}\n")
  else() # that of other packages would be a lie; ccache takes the header's own
    file(REMOVE ${file})
  endif()
endfunction()

# tandem_precompiled_set(NAME LIBRARIES... HEADERS... PACKAGES...): the target NAME, whose headers others use. PACKAGES:
# Debian's that they come from, beside those of the compiler, the standard library and fmt.
function(tandem_precompiled_set name)
  cmake_parse_arguments(ARG "" "" "LIBRARIES;HEADERS;PACKAGES" ${ARGN})
  if(NOT TANDEM_PRECOMPILED)
    return()
  endif()
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${name}.cc)
  file(CONFIGURE OUTPUT ${source} CONTENT "// Nothing but what CMake includes.\n")
  add_library(${name} OBJECT EXCLUDE_FROM_ALL ${source})
  target_link_libraries(${name} PRIVATE tandem_options ${ARG_LIBRARIES})
  # Without times inside, so that ccache knows it again.
  target_compile_options(${name} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  set(headers ${ARG_HEADERS})
  list(TRANSFORM headers REPLACE "(.+)" "$<$<COMPILE_LANGUAGE:CXX>:<\\1$<ANGLE-R>>")
  target_precompile_headers(${name} PRIVATE ${headers})
  tandem_precompiled_sum(${name} "${ARG_HEADERS}" "${ARG_PACKAGES}")
endfunction()

# tandem_precompiled(NAME TARGETS...): these targets use its headers.
function(tandem_precompiled name)
  if(NOT TANDEM_PRECOMPILED)
    return()
  endif()
  foreach(target IN LISTS ARGN)
    target_precompile_headers(${target} REUSE_FROM ${name})
    get_target_property(sources ${target} SOURCES)
    list(FILTER sources INCLUDE REGEX "\\.c$")
    set_source_files_properties(${sources} TARGET_DIRECTORY ${target} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
    # libstdc++ switches that warning off for itself by pragmas, which clang forgets in a precompiled header.
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wno-deprecated-declarations>
      "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
  endforeach()
endfunction()

# tandem_precompiled_rest(NAME FOLDERS...): so do the targets of these folders and of those below that use none yet.
function(tandem_precompiled_rest name)
  foreach(folder IN LISTS ARGN)
    get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
    foreach(target IN LISTS targets)
      get_target_property(kind ${target} TYPE)
      get_target_property(used ${target} PRECOMPILE_HEADERS_REUSE_FROM)
      if(kind MATCHES "LIBRARY|EXECUTABLE" AND NOT kind STREQUAL INTERFACE_LIBRARY AND NOT used)
        tandem_precompiled(${name} ${target})
      endif()
    endforeach()
    get_property(below DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
    if(below)
      tandem_precompiled_rest(${name} ${below})
    endif()
  endforeach()
endfunction()

set(standard_headers algorithm array cstdint deque functional map memory optional set span string string_view tuple
  utility variant vector)
tandem_precompiled_set(tandem_precompiled_standard
  LIBRARIES fmt::fmt
  HEADERS ${standard_headers} atomic filesystem fmt/format.h)
tandem_precompiled_set(tandem_precompiled_llvm
  LIBRARIES tandem_llvm_headers fmt::fmt
  HEADERS ${standard_headers} fmt/format.h
    llvm/ADT/DenseMap.h llvm/ADT/DenseSet.h llvm/ADT/MapVector.h llvm/ADT/STLExtras.h llvm/ADT/SetVector.h
    llvm/ADT/SmallPtrSet.h llvm/ADT/SmallVector.h llvm/ADT/StringSet.h
    llvm/Analysis/CFG.h llvm/Analysis/LoopInfo.h llvm/Analysis/ValueTracking.h
    llvm/IR/CFG.h llvm/IR/Constants.h llvm/IR/DataLayout.h llvm/IR/DebugInfoMetadata.h llvm/IR/Dominators.h
    llvm/IR/Function.h llvm/IR/IRBuilder.h llvm/IR/InlineAsm.h llvm/IR/InstIterator.h llvm/IR/Instructions.h
    llvm/IR/IntrinsicInst.h llvm/IR/LLVMContext.h llvm/IR/MDBuilder.h llvm/IR/Module.h llvm/IR/Operator.h
    llvm/IR/PassManager.h llvm/IR/PatternMatch.h
    llvm/Support/raw_ostream.h llvm/Transforms/Utils/BasicBlockUtils.h llvm/Transforms/Utils/Cloning.h
    llvm/Transforms/Utils/Local.h
  PACKAGES llvm-19-dev)
tandem_precompiled_set(tandem_precompiled_json
  LIBRARIES fmt::fmt nlohmann_json::nlohmann_json CLI11::CLI11
  HEADERS ${standard_headers} filesystem fmt/format.h nlohmann/json.hpp CLI/CLI.hpp
  PACKAGES nlohmann-json3-dev libcli11-dev)
if(BUILD_TESTING)
  tandem_precompiled_set(tandem_precompiled_tests
    LIBRARIES fmt::fmt GTest::gmock
    HEADERS ${standard_headers} atomic random thread fmt/format.h gmock/gmock.h gtest/gtest.h
    PACKAGES libgtest-dev libgmock-dev)
endif()
