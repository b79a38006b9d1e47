# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""An origin on the loopback address, whose answers tell which they are, and that fails on request.

/page/N            about N bytes, Content-Length, fresh for an hour; /stream/N: the same in chunks
/validate/NAME     stale at once, with an ETag; 304 where that is asked for
/broken/N          says N bytes, sends half, and hangs up; /cut/N: the same in chunks
/headers/N         N bytes of headers
/slow/N            N bytes, a piece every 20 ms
/varying/NAME      varies with Accept-Language
"""

from __future__ import annotations

import contextlib
import http.server
import threading
import time
from collections import Counter
from collections.abc import Iterator

__all__ = ["Origin", "contents", "origin"]


def contents(path: str, count: int) -> bytes:
    """What a path gives: `count` bytes that no other path gives."""
    unit = f"{path} ".encode()
    return (unit * (count // len(unit) + 1))[:count]


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Origin

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass

    def do_GET(self) -> None:
        self.server.asked[self.path] += 1
        kind, _, rest = self.path.removeprefix("/").partition("/")
        handler = getattr(self, f"_{kind}", None)
        if handler is None:
            self.send_error(404)
        else:
            with contextlib.suppress(ConnectionError):
                handler(rest)

    do_HEAD = do_GET  # noqa: N815

    def _begin(self, *headers: tuple[str, str], status: int = 200, fresh_s: int = 3600) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Cache-Control", f"max-age={fresh_s}")
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()

    def _page(self, rest: str) -> None:
        body = contents(self.path, int(rest.partition("/")[0]))
        self._begin(("Content-Length", str(len(body))))
        self._write(body)

    def _write(self, body: bytes) -> None:
        if self.command != "HEAD":
            self.wfile.write(body)

    def _chunk(self, piece: bytes) -> None:
        self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
        self.wfile.flush()

    def _stream(self, rest: str, pause_s: float = 0.0) -> None:
        body = contents(self.path, int(rest.partition("/")[0]))
        self._begin(("Transfer-Encoding", "chunked"))
        for at in range(0, len(body), 5000):
            self._chunk(body[at : at + 5000])
            time.sleep(pause_s)
        self.wfile.write(b"0\r\n\r\n")

    def _slow(self, rest: str) -> None:
        self._stream(rest, 0.02)

    def _validate(self, rest: str) -> None:
        tag = f'"{rest}"'
        if self.headers.get("If-None-Match") == tag:
            self._begin(("ETag", tag), status=304, fresh_s=0)
            return
        body = contents(self.path, 3000)
        self._begin(("ETag", tag), ("Content-Length", str(len(body))), fresh_s=0)
        self._write(body)

    def _broken(self, rest: str) -> None:
        body = contents(self.path, int(rest.partition("/")[0]))
        self._begin(("Content-Length", str(len(body))))
        self._write(body[: len(body) // 2])
        self.close_connection = True

    def _cut(self, rest: str) -> None:
        body = contents(self.path, int(rest.partition("/")[0]))
        self._begin(("Transfer-Encoding", "chunked"))
        self._chunk(body[: len(body) // 2])
        self.close_connection = True

    def _headers(self, rest: str) -> None:
        count = int(rest.partition("/")[0])
        fields = [(f"X-Filler-{i}", "x" * 4000) for i in range(count // 4000)]
        self._begin(("Content-Length", "2"), *fields)
        self._write(b"ok")

    def _varying(self, rest: str) -> None:
        del rest
        body = f"{self.path} {self.headers.get('Accept-Language')}".encode()
        self._begin(("Vary", "Accept-Language"), ("Content-Length", str(len(body))))
        self._write(body)


class Origin(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: Counter[str] = Counter()  # how often each path was

    def handle_error(self, request: object, client_address: object) -> None:
        """A server that ends, or is killed, breaks its connections off: nothing to tell."""

    @property
    def port(self) -> int:
        return int(self.server_address[1])


@contextlib.contextmanager
def origin() -> Iterator[Origin]:
    server = Origin()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
