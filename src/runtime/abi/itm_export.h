// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// A function of the transactional memory ABI. abi/libitm.map lists them all.
#define TANDEM_ITM extern "C" __attribute__((visibility("default")))
