# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A server with memcached's options that makes one mistake, told by $FAULT: `junk` answers,
`hangup` when it is asked, `refuses`: hangs up before, `partial`: the
begin of statistics only, `dies` when it is asked, `status`: ends with status 3 at SIGINT; `none`.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from pathlib import Path


def listen() -> socket.socket:
    words = sys.argv
    if "-s" in words:
        path = words[words.index("-s") + 1]
        Path(path).unlink(missing_ok=True)
        server = socket.socket(socket.AF_UNIX)
        server.bind(path)
        server.listen()
        return server
    server = socket.create_server(("127.0.0.1", 0))
    file = Path(os.environ["MEMCACHED_PORT_FILENAME"])
    partial = file.with_suffix(".lck")
    partial.write_text(f"TCP INET: {server.getsockname()[1]}\n", encoding="utf-8")
    partial.replace(file)
    return server


def answer(connection: socket.socket, fault: str) -> None:
    if fault == "refuses":
        connection.close()
        return
    if not connection.recv(1 << 16):
        return
    if fault == "dies":
        os._exit(1)
    if fault == "junk":
        connection.sendall(b"JUNK\r\n")
        connection.recv(1)
    if fault == "partial":
        connection.sendall(b"STAT evictions 1\r\n")
    connection.close()


def main() -> None:
    fault = os.environ.get("FAULT", "none")
    signal.signal(signal.SIGINT, lambda *_: os._exit(3 if fault == "status" else 0))
    server = listen()
    while True:
        connection, _ = server.accept()
        threading.Thread(target=answer, args=(connection, fault), daemon=True).start()


main()
