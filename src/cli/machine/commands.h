// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The words of `tandem machine`. Each gets its own command line, argv[0] being the word, and gives
// the program's exit status.
#pragma once

namespace tandem::machine_cli {

int boot_command(int argc, char **argv);
int exec_command(int argc, char **argv);
int image_command(int argc, char **argv);
int filter_command(int argc, char **argv);
int check_command(int argc, char **argv);
int tables_command(int argc, char **argv);
int list_command(int argc, char **argv);
int run_command(int argc, char **argv);
int compare_command(int argc, char **argv);
int test_command(int argc, char **argv);
int trace_command(int argc, char **argv);

} // namespace tandem::machine_cli
