# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Warnings and sanitizers, the same for every target of the project.
set(TANDEM_SANITIZE "" CACHE STRING "sanitizers to build with, as for -fsanitize= (empty: none)")

add_library(tandem_options INTERFACE)
target_compile_options(tandem_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Werror=return-type
  -fno-omit-frame-pointer)
target_include_directories(tandem_options INTERFACE
  ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
if(TANDEM_SANITIZE)
  target_compile_options(tandem_options INTERFACE -fsanitize=${TANDEM_SANITIZE} -fno-sanitize-recover=all)
  target_link_options(tandem_options INTERFACE -fsanitize=${TANDEM_SANITIZE})
endif()

# What users' programs load: with debug information that Debian 12's valgrind (3.19) reads.
add_library(tandem_loaded_options INTERFACE)
target_link_libraries(tandem_loaded_options INTERFACE tandem_options)
target_compile_options(tandem_loaded_options INTERFACE -fdebug-default-version=4)

# Everything that only tests need. `all` is the product.
if(BUILD_TESTING)
  add_custom_target(tandem_tests)
endif()
# tandem_test_program(NAME SOURCES...): a program that is a test or that tests run.
function(tandem_test_program name)
  add_executable(${name} EXCLUDE_FROM_ALL ${ARGN})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  # Also by the room, as tandem_tests_runtime.
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE folder)
  string(REGEX MATCH "^(src/)?([^/]+)" room ${folder})
  set(room tandem_tests_${CMAKE_MATCH_2})
  if(NOT TARGET ${room})
    add_custom_target(${room})
    add_dependencies(tandem_tests ${room})
  endif()
  add_dependencies(${room} ${name})
endfunction()

# tandem_test(NAME SOURCES... LIBRARIES...): a GoogleTest program beside the code it tests.
function(tandem_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBRARIES" ${ARGN})
  if(NOT BUILD_TESTING)
    return()
  endif()
  tandem_test_program(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE tandem_options ${ARG_LIBRARIES} GTest::gmock_main)
  tandem_precompiled(tandem_precompiled_tests ${name})
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES LABELS unit)
endfunction()
