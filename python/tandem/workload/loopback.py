# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`python -m tandem.workload.loopback COMMAND...` becomes the command, in the network namespace
that it was started in, with the loopback interface up: nothing outside can reach what a test
suite's servers listen on.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import socket
import struct
import subprocess
import sys
from collections.abc import Sequence

__all__ = ["alone"]

SIOCSIFFLAGS = 0x8914  # linux/sockios.h
IFF_UP = 1  # linux/if.h


def alone(command: Sequence[str]) -> list[str]:
    """The command in a network namespace of its own where this process may make one."""
    unshare = shutil.which("unshare")
    if unshare is None or os.geteuid() != 0:
        return list(command)
    if subprocess.run([unshare, "--net", "true"], capture_output=True, check=False).returncode:
        return list(command)
    return [unshare, "--net", sys.executable, "-m", "tandem.workload.loopback", *command]


def _up() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        # struct ifreq: the interface's name, its flags, and the rest of its 40 bytes.
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh22x", b"lo", IFF_UP))


if __name__ == "__main__":
    _up()
    os.execvp(sys.argv[1], sys.argv[1:])
