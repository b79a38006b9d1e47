/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A thread stands for a processor. */
#pragma once
extern _Thread_local int processor;
#define smp_processor_id() processor
