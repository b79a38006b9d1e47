# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The runtime for the simulated machine's harts, where Debian's cross C library is: one archive, as programs for it are
# static, and the same bitcode as beside it. The driver and the pass look for them in lib/tandem/riscv64.
# Looked for at each build: they may be installed later.
file(GLOB TANDEM_RISCV64_HEADERS CONFIGURE_DEPENDS /usr/riscv64-linux-gnu/include/pthread.h)
file(GLOB TANDEM_RISCV64_CXX CONFIGURE_DEPENDS /usr/lib/gcc-cross/riscv64-linux-gnu/*/libstdc++.a)
if(NOT TANDEM_RISCV64_HEADERS OR NOT TANDEM_RISCV64_CXX)
  message(STATUS "no runtime for riscv64-linux-gnu: g++-riscv64-linux-gnu and libc6-dev-riscv64-cross are not installed")
  return()
endif()
set(riscv64 ${TANDEM_PLUGIN_DIR}/riscv64)
set(riscv64_flags --target=riscv64-linux-gnu -march=rv64gc -mabi=lp64d -O2)
set(launcher ${CMAKE_CXX_COMPILER_LAUNCHER})

set(objects)
set(sources ${section_sources} ${engine_sources} memory/pages.cc fatal.cc)
list(REMOVE_DUPLICATES sources)
foreach(source IN LISTS sources)
  cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} NORMALIZE)
  cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR}/src OUTPUT_VARIABLE name)
  string(REPLACE / . name ${name})
  set(object ${CMAKE_CURRENT_BINARY_DIR}/riscv64/${name}.o)
  add_custom_command(
    OUTPUT ${object}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_CURRENT_BINARY_DIR}/riscv64
    COMMAND ${launcher} ${CMAKE_CXX_COMPILER} ${riscv64_flags} -std=c++20 -gline-tables-only -fvisibility=hidden
      -fno-exceptions -fno-rtti -fno-threadsafe-statics -fno-jump-tables -fomit-frame-pointer
      -Wall -Wextra -Wno-c99-extensions -Wno-unused-function -DTANDEM_LIBRARY="libtandem"
      -I${PROJECT_SOURCE_DIR} -I${PROJECT_SOURCE_DIR}/src -I${PROJECT_SOURCE_DIR}/include
      -MD -MF ${object}.d -MT ${object} -c ${source} -o ${object}
    DEPENDS ${source}
    DEPFILE ${object}.d
    COMMENT "Compiling ${name} for riscv64"
    VERBATIM)
  list(APPEND objects ${object})
endforeach()
set(archive ${riscv64}/libtandem.a)
add_custom_command(
  OUTPUT ${archive}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${riscv64}
  COMMAND ${CMAKE_COMMAND} -E rm -f ${archive}
  COMMAND ${LLVM_TOOLS_BINARY_DIR}/llvm-ar rcs ${archive} ${objects}
  DEPENDS ${objects}
  COMMENT "Archiving the runtime for riscv64"
  VERBATIM)

# The features of the processor stay, as code that is not inlined is compiled by them.
set(strip sed -e "s/\"target-features\"/\"TARGET-FEATURES\"/" -f ${CMAKE_CURRENT_SOURCE_DIR}/abi/strip_target.sed
  -e "s/\"TARGET-FEATURES\"/\"target-features\"/")
set(cxx -x c++ -std=c++20 -fno-exceptions -fno-rtti)
set(c -x c -std=gnu17)
# bitcode(NAME LANGUAGE SOURCE...)
function(tandem_riscv64_bitcode name language)
  set(texts)
  foreach(source IN LISTS ARGN)
    cmake_path(GET source STEM stem)
    set(made ${CMAKE_CURRENT_BINARY_DIR}/riscv64/${name}.${stem})
    add_custom_command(
      OUTPUT ${made}.ll
      COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_CURRENT_BINARY_DIR}/riscv64
      COMMAND ${LLVM_TOOLS_BINARY_DIR}/clang ${${language}} ${riscv64_flags} -fPIC -S -emit-llvm
        -I${PROJECT_SOURCE_DIR}/src -I${PROJECT_SOURCE_DIR}/include
        -MD -MF ${made}.d -MT ${made}.ll ${source} -o ${made}.whole
      COMMAND ${strip} ${made}.whole > ${made}.ll
      DEPENDS ${source} ${CMAKE_CURRENT_SOURCE_DIR}/abi/strip_target.sed
      DEPFILE ${made}.d
      COMMENT "Compiling ${name}.bc for riscv64"
      VERBATIM)
    list(APPEND texts ${made}.ll)
  endforeach()
  # Of a single text llvm-link would leave out what may be defined more than once, which is all.
  list(LENGTH texts count)
  set(join llvm-link)
  if(count EQUAL 1)
    set(join llvm-as)
  endif()
  add_custom_command(
    OUTPUT ${riscv64}/${name}.bc
    COMMAND ${CMAKE_COMMAND} -E make_directory ${riscv64}
    COMMAND ${LLVM_TOOLS_BINARY_DIR}/${join} ${texts} -o ${riscv64}/${name}.bc
    DEPENDS ${texts}
    VERBATIM)
endfunction()
tandem_riscv64_bitcode(runtime c ${CMAKE_CURRENT_SOURCE_DIR}/abi/inline.c)
tandem_riscv64_bitcode(phases c ${CMAKE_CURRENT_SOURCE_DIR}/phases/inline.c)
tandem_riscv64_bitcode(barriers cxx ${CMAKE_CURRENT_SOURCE_DIR}/abi/inline_barriers.cc)
tandem_riscv64_bitcode(held c
  ${PROJECT_SOURCE_DIR}/src/compiler/convert/held.c ${PROJECT_SOURCE_DIR}/src/compiler/convert/sleepers.c)

# As src/compiler/pass has it; the ABI of floating point is one of an object's marks.
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/riscv64/anchor.sed
  "/^target /p\n$a!llvm.module.flags = !{!0, !1}\n$a!0 = !{i32 8, !\"PIC Level\", i32 2}\n$a!1 = !{i32 1, !\"target-abi\", !\"lp64d\"}\n")
add_custom_command(
  OUTPUT ${riscv64}/anchor.o
  COMMAND ${CMAKE_COMMAND} -E make_directory ${riscv64}
  COMMAND ${LLVM_TOOLS_BINARY_DIR}/clang ${riscv64_flags} -x c -S -emit-llvm /dev/null
    -o ${CMAKE_CURRENT_BINARY_DIR}/riscv64/empty.ll
  COMMAND sed -n -f ${CMAKE_CURRENT_BINARY_DIR}/riscv64/anchor.sed ${CMAKE_CURRENT_BINARY_DIR}/riscv64/empty.ll
    > ${CMAKE_CURRENT_BINARY_DIR}/riscv64/anchor.ll
  COMMAND ${LLVM_TOOLS_BINARY_DIR}/llvm-as ${CMAKE_CURRENT_BINARY_DIR}/riscv64/anchor.ll -o ${riscv64}/anchor.o
  COMMENT "Building the anchor of analysed links for riscv64"
  VERBATIM)
set(made ${archive} ${riscv64}/anchor.o ${riscv64}/runtime.bc ${riscv64}/phases.bc ${riscv64}/barriers.bc ${riscv64}/held.bc)
add_custom_target(tandem_riscv64 ALL DEPENDS ${made})
install(FILES ${made} DESTINATION ${CMAKE_INSTALL_LIBDIR}/tandem/riscv64 COMPONENT compiler)
