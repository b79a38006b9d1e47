# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What engine_bugs.py has, by algorithm."""
