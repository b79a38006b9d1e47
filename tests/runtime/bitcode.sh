#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# bitcode.sh FOLDER LLVM_BIN: the runtime's bitcode can be linked into code of any CPU and position model, is inlined
# there, leaves nothing of itself behind, and keeps its state in the library.
set -eu
folder=$1 llvm=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/user.c" <<'C'
struct tandem_section;
extern const struct tandem_section section;
void _TANDEM_inline_global_lock_enter(const struct tandem_section *);
void _TANDEM_inline_global_lock_leave(const struct tandem_section *);
extern __thread void *_TANDEM_thread_4 __attribute__((tls_model("initial-exec")));
unsigned long _TANDEM_inline_RfWU8(const unsigned long *, void *);
void _TANDEM_inline_WU8(unsigned long *, unsigned long, void *);
int counter;
void transactional(unsigned long *place) {
  _TANDEM_inline_WU8(place, _TANDEM_inline_RfWU8(place, _TANDEM_thread_4) * 3, _TANDEM_thread_4);
}
void user(void) {
  _TANDEM_inline_global_lock_enter(&section);
  ++counter;
  _TANDEM_inline_global_lock_leave(&section);
}
C
for flags in "-O2" "-O2 -fPIC" "-O2 -fno-pic" "-O2 -mavx2 -g" "-O2 -march=haswell -fshort-wchar" \
  "-O2 -mno-sse -mno-mmx -mno-80387"; do
  # shellcheck disable=SC2086 # several flags
  "$llvm/clang" $flags -c -emit-llvm "$work/user.c" -o "$work/user.bc"
  "$llvm/llvm-link" --only-needed --internalize "$work/user.bc" "$folder/runtime.bc" "$folder/barriers.bc" -o "$work/linked.bc" 2>"$work/err"
  if [ -s "$work/err" ]; then
    printf 'flags %s: linking warns:\n' "$flags" >&2
    cat "$work/err" >&2
    exit 1
  fi
  "$llvm/llvm-dis" "$work/user.bc" -o - | sed -n '/"PI[CE] Level"/p' | sed 's/^![0-9]* = //' >"$work/before"
  "$llvm/opt" -passes='default<O2>' "$work/linked.bc" -S -o "$work/linked.ll"
  sed -n '/"PI[CE] Level"/p' "$work/linked.ll" | sed 's/^![0-9]* = //' >"$work/after"
  if ! cmp -s "$work/before" "$work/after"; then
    printf 'flags %s: the position model of the program changed\n' "$flags" >&2
    exit 1
  fi
  if grep -q '@_TANDEM_inline\|^@_ZN6tandem' "$work/linked.ll"; then
    printf 'flags %s: not inlined\n' "$flags" >&2
    exit 1
  fi
  for line in '@_TANDEM_global_lock_depth = external thread_local(initialexec)' \
    'declare void @_TANDEM_global_lock_enter' 'declare void @_TANDEM_global_lock_leave' \
    '@_TANDEM_thread_4 = external thread_local(initialexec)' 'call preserve_mostcc noundef i64' 'call preserve_mostcc void'; do
    if ! grep -qF "$line" "$work/linked.ll"; then
      printf 'flags %s: no %s\n' "$flags" "$line" >&2
      exit 1
    fi
  done
done
