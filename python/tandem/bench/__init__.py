# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`tandem bench`: the STAMP-class suite (workloads/stamp) under every way to run its sections."""
