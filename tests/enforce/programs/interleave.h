// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// interleave() inside a section, between its reads and its writes, makes threads meet there,
// however few processors there are: now and then the calling thread sleeps. Compiled apart, and
// pure by interleave.toml: nothing the compiler transforms.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif
void interleave(void);
void interleave_for_sure(void); // sleeps every time
// Calls of the two by the calling thread so far. Those of attempts that were rolled back
// count, so more calls than the program makes are restarts.
unsigned long interleaved(void);
#ifdef __cplusplus
}
#endif
