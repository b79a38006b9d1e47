# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The experiment harness: `tandem experiment`, or `python -m tandem.experiment`."""
