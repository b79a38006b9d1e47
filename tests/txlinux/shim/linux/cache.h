/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#pragma once
#define ____cacheline_aligned __attribute__((aligned(64)))
