# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# lit configuration of the attribute plugin's tests: stock clang with the plugin, one behaviour per
# file. Run by
# ctest (label lit), or   build/venv/bin/lit -sv tests/attribute --param build=build/release
import os

import lit.formats

config.name = "tandem-attribute"  # noqa: F821 (lit defines it)
config.test_format = lit.formats.ShTest(execute_external=False)  # noqa: F821
config.suffixes = [".c", ".cc"]  # noqa: F821
config.test_source_root = os.path.dirname(__file__)  # noqa: F821
build = os.path.abspath(lit_config.params.get("build", os.environ.get("TANDEM_BUILD", "")))  # noqa: F821
attributes = os.path.join(build, "lib/tandem/TandemAttributes.so")
if not os.path.exists(attributes):
    lit_config.fatal(f"{build}: no Tandem build; give --param build=FOLDER")  # noqa: F821
config.test_exec_root = os.path.join(build, "tests/attribute")  # noqa: F821
root = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
llvm = os.environ.get("TANDEM_LLVM_BIN", "/usr/lib/llvm-19/bin")

# %cc, %cxx: clang with the plugin. %plain_cc, %plain_cxx: without it.
config.substitutions += [  # noqa: F821
    ("%cxx", f"{llvm}/clang++ -std=c++20 -fplugin={attributes} -I{root}/include"),
    ("%cc", f"{llvm}/clang -std=c17 -fplugin={attributes} -I{root}/include"),
    ("%plain_cxx", f"{llvm}/clang++ -std=c++11 -I{root}/include"),
    ("%plain_cc", f"{llvm}/clang -std=c11 -I{root}/include"),
    ("%FileCheck", f"{llvm}/FileCheck"),
]
