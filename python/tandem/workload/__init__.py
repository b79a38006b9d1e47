# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Real programs as workloads: fetched, built with nothing changed, analysed, tested.

Needs nothing beyond the standard library.
"""
