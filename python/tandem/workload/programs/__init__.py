# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Real programs that were not prepared for Tandem: built, analysed, converted, run and compared."""
