# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The bugs that mutants.py puts into the engine, by the algorithm that shows them."""

from __future__ import annotations

from bugs.automatic import AUTOMATIC
from bugs.bug import Bug
from bugs.hardware import HARDWARE
from bugs.norec import NOREC
from bugs.orecs import ORECS
from bugs.two_phase import TWO_PHASE

__all__ = ["BUGS", "Bug"]

BUGS = ORECS | NOREC | TWO_PHASE | HARDWARE | AUTOMATIC
