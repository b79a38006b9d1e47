# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Debian packages, by CPack: scripts/package runs it. Everything is below /usr/lib/tandem, where programs find each
# other as in every installation, and our libitm.so.1 is beside GCC's instead of before it: it is chosen by path
# (LD_LIBRARY_PATH, -L). Each package is a component of the installation. Links in /usr/bin, manual pages and
# completions are only installed with their component, which is what CPack does, and not by `make install`.
set(home /usr/lib/tandem)
set(links ${CMAKE_CURRENT_BINARY_DIR}/links)
file(MAKE_DIRECTORY ${links})
foreach(name tandem tandem-cc tandem-c++ tandem-ar tandem-ranlib tandem-nm
    tandem-llvm-ar tandem-llvm-ranlib tandem-llvm-nm)
  file(CREATE_LINK ${home}/bin/${name} ${links}/${name} SYMBOLIC)
  install(FILES ${links}/${name} DESTINATION /usr/bin COMPONENT compiler EXCLUDE_FROM_ALL)
endforeach()
install(DIRECTORY ${CMAKE_BINARY_DIR}/manual/ DESTINATION /usr/share COMPONENT compiler EXCLUDE_FROM_ALL OPTIONAL)
# What Debian's Python packages are too old for; scripts/package puts it there.
install(DIRECTORY ${CMAKE_BINARY_DIR}/modules DESTINATION ${CMAKE_INSTALL_DATADIR}/tandem COMPONENT experiments
  EXCLUDE_FROM_ALL OPTIONAL)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tandem)
set(CPACK_PACKAGE_VENDOR "the Tandem project")
set(CPACK_PACKAGE_CONTACT "the Tandem project <tandem@localhost>")
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/packages)
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_SET_DESTDIR ON)
set(CPACK_INSTALL_PREFIX ${home})
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Ours, which are in no package yet.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_LIBRARY_OUTPUT_DIRECTORY} ${TANDEM_PLUGIN_DIR})

set(CPACK_COMPONENTS_ALL runtime development compiler machine experiments)
set(CPACK_COMPONENTS_GROUPING IGNORE)
# tandem_package(COMPONENT NAME SUMMARY DESCRIPTION DEPENDS)
function(tandem_package component name summary description depends)
  string(TOUPPER ${component} upper)
  set(CPACK_COMPONENT_${upper}_DESCRIPTION "${summary}\n${description}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name} PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "${depends}" PARENT_SCOPE)
endfunction()
set(same "(= ${PROJECT_VERSION})")
tandem_package(runtime libtandem0 "runtime of atomic sections"
  "The libraries that programs of tandem-cc load, and a libitm.so.1 for programs of gcc -fgnu-tm."
  "")
tandem_package(development libtandem-dev "headers and links of the runtime of atomic sections"
  "What programs need that call the runtime themselves." "libtandem0 ${same}")
tandem_package(compiler tandem "atomic sections for C and C++"
  "The compilers tandem-cc and tandem-c++, the analysis, reports and their documents."
  "libtandem-dev ${same}, clang-19, lld-19, llvm-19")
tandem_package(machine tandem-machine "simulated multicore with transactional memory"
  "RV64 harts on coherent memory, coherence protocols and their proofs." "tandem ${same}")
tandem_package(experiments tandem-experiments "experiments, workloads and benchmarks of Tandem"
  "Tables and figures beside published values, on real programs."
  "tandem ${same}, tandem-machine ${same}, python3 (>= 3.11), python3 (<< 3.12), make, gcc")
# Libraries of Python packages bring what they need.
set(CPACK_DEBIAN_EXPERIMENTS_PACKAGE_SHLIBDEPS OFF)
include(CPack)
