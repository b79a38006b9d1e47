# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Textual LLVM IR of inline.c -> code that any module can take in and inline: linkage that allows one copy
# per output, no attributes of a CPU, no module flags (PIE level, width of wchar_t, ...), no compiler's name.
s/^define hidden /define linkonce_odr hidden /
/^attributes #/s/ "[a-z-]*"="[^"]*"//g
# An empty group is not valid IR; the calls that are left are C and do not throw.
/^attributes #/s/{ }/{ nounwind }/
/^!llvm\.module\.flags/d
/^!llvm\.ident/d
