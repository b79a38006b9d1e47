# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""TxLinux: Linux whose lock sections are hardware transactions, on the simulated machine."""
