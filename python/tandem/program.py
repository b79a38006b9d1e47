# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How every program of this package ends: one line on standard error, and its exit status."""

from __future__ import annotations

import sys
from collections.abc import Callable

from tandem.errors import TandemError
from tandem.files import printable
from tandem.interrupts import end_at_once, raise_interrupts

__all__ = ["answer", "guarded", "say"]


def say(program: str, message: str) -> None:
    """`program: message` on standard error, one line whatever is in it."""
    line = printable(" ".join(message.split()))
    print(f"{program}: {line}", file=sys.stderr, flush=True)


def answer(program: str, message: str, status: int) -> int:
    """Says it; gives `status`, for main()."""
    say(program, message)
    return status


def guarded(program: str, run: Callable[[], int]) -> int:
    """What `run` gives; errors of the user, of the machine and signals are one line each.

    Afterwards a signal ends the process at once, in silence: nothing is left to be undone.
    """
    try:
        raise_interrupts()
        status = run()
    except TandemError as error:
        status = answer(program, str(error), error.exit_status)
    except KeyboardInterrupt:
        status = answer(program, "interrupted", 130)
    except RecursionError:
        status = answer(program, "an input is nested too deeply to be read", 2)
    except MemoryError:
        status = answer(program, "there is not enough memory; give it more, or a smaller input", 1)
    except OSError as error:
        place = f"{error.filename}: " if error.filename is not None else ""
        status = answer(program, f"{place}{(error.strerror or str(error)).lower()}", 1)
    finally:
        end_at_once()
    return status
