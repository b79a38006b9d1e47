# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Real programs that nobody has prepared: built, analysed, converted, run and compared."""
