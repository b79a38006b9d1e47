# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What SIGINT and SIGTERM do to the programs of this package. Imports next to nothing."""

from __future__ import annotations

import os
import signal

__all__ = ["end_at_once", "raise_interrupts"]

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class _Interrupted(KeyboardInterrupt):
    """Once a KeyboardInterrupt itself has left a compiled string, Python ends by SIGINT,
    whatever caught it at last; a class of our own does not count for that."""


def _interrupt(*_: object) -> None:
    raise _Interrupted


def end_at_once() -> None:
    """The signals end the process in silence: there is nothing yet, or no more, to be undone.

    The launcher has SIGINT ignored while Python starts, and says so in TANDEM_INTERRUPTS.
    """
    wanted = os.environ.pop("TANDEM_INTERRUPTS", "") != ""
    for number in _SIGNALS:
        if wanted or signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


def raise_interrupts() -> None:
    """The signals raise KeyboardInterrupt, so that nothing is left behind; ignored ones do not."""
    for number in _SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _interrupt)
