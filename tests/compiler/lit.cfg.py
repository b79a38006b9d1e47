# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# lit configuration of the compiler's tests: one behaviour per file. Run by ctest (label lit), or
#   build/venv/bin/lit -sv tests/compiler --param build=build/release
# With --param preload=LIBRARY the plugins are those of a build with that sanitizer, and opt
# verifies the module behind every pass.
import os
import sys

import lit.formats

config.name = "tandem-compiler"  # noqa: F821 (lit defines it)
config.test_format = lit.formats.ShTest(execute_external=False)  # noqa: F821
config.suffixes = [".c", ".cc"]  # noqa: F821
config.excludes = ["Inputs"]  # noqa: F821
config.test_source_root = os.path.dirname(__file__)  # noqa: F821
build = os.path.abspath(lit_config.params.get("build", os.environ.get("TANDEM_BUILD", "")))  # noqa: F821
if not os.path.exists(os.path.join(build, "lib/tandem/TandemPass.so")):
    lit_config.fatal(f"{build}: no Tandem build; give --param build=FOLDER")  # noqa: F821
config.test_exec_root = os.path.join(build, "tests/compiler")  # noqa: F821
root = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
llvm = os.environ.get("TANDEM_LLVM_BIN", "/usr/lib/llvm-19/bin")
plugin = os.path.join(build, "lib/tandem/TandemPass.so")
attributes = os.path.join(build, "lib/tandem/TandemAttributes.so")
preload = lit_config.params.get("preload", "")  # noqa: F821
under = f"env LD_PRELOAD={preload} " if preload else ""
opt = f"{under}{llvm}/opt {'-verify-each ' if preload else ''}-load-pass-plugin={plugin}"
frontend = (
    "-g -O1 -fno-discard-value-names -Xclang -disable-llvm-passes "
    f"-fplugin={attributes} -D__TANDEM__=1 -I{root}/include"
)

# %cc, %cxx: source to the IR that the link step sees. %link: IR files to one program.
# %tandem: the pass over a program whose only entry is main, under the enforcement that the
# environment names; IR on standard output, report in %t.json. %library: as %tandem.
config.substitutions += [  # noqa: F821
    ("%cxx", f"{under}{llvm}/clang++ {frontend} -S -emit-llvm -o -"),
    ("%cc", f"{under}{llvm}/clang {frontend} -S -emit-llvm -o -"),
    ("%link", f"{llvm}/llvm-link -S -o -"),
    (
        "%tandem",
        "env TANDEM_LINK_OUTPUT=program TANDEM_REPORT=%t.json "
        f"{opt} -passes=internalize,tandem "
        "-internalize-public-api-list=main -S -o -",
    ),
    # The same over a shared library: nothing is internal but what the source says.
    (
        "%library",
        "env TANDEM_LINK_OUTPUT=library.so TANDEM_LINK_SHARED=1 TANDEM_REPORT=%t.json "
        f"{opt} -passes=tandem -S -o -",
    ),
    ("%object", f"{llvm}/clang -fno-builtin -Wno-incompatible-library-redeclaration -c"),
    ("%archive", f"{llvm}/llvm-ar"),
    # The pass and what the link does behind it at -O2; passes on standard error.
    (
        "%optimised",
        "env TANDEM_LINK_OUTPUT=program "
        f"{opt} '-passes=internalize,lto<O2>' "
        "-internalize-public-api-list=main -debug-pass-manager -S -o -",
    ),
    ("%FileCheck", f"{llvm}/FileCheck"),
    ("%python", sys.executable),
    ("%workloads", f"{root}/workloads"),
]
for name in ("PATH", "MALLOC_PERTURB_", "ASAN_OPTIONS", "UBSAN_OPTIONS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]  # noqa: F821
