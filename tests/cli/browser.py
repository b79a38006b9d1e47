# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A real browser without a window: Debian's chromium, spoken to over its debugging pipe."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import quote

Json = dict[str, Any]


class Browser:
    """One chromium with one page. Remembers what the page asks for and what it complains about."""

    def __init__(self, folder: Path, width: int = 1400, height: int = 900) -> None:
        chromium = shutil.which("chromium")
        assert chromium, "chromium is missing: scripts/setup installs it"
        to_browser, commands = os.pipe()
        answers, from_browser = os.pipe()

        def hand_over() -> None:
            # chromium reads commands from 3 and writes answers to 4; neither may be overwritten
            # before it has been moved.
            high = (os.dup(to_browser), os.dup(from_browser))
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        self._child = subprocess.Popen(
            [
                chromium,
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--no-first-run",
                "--disable-background-networking",
                "--remote-debugging-pipe",
                f"--user-data-dir={folder}",
                f"--window-size={width},{height}",
                "about:blank",
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            close_fds=False,
            preexec_fn=hand_over,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._commands = os.fdopen(commands, "wb", buffering=0)
        self._answers = os.fdopen(answers, "rb")
        self._last = 0
        self._session: str | None = None
        self.requests: list[str] = []
        self.complaints: list[str] = []
        target = self._send("Target.createTarget", {"url": "about:blank"})["targetId"]
        session = self._send("Target.attachToTarget", {"targetId": target, "flatten": True})
        self._session = session["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self._send(f"{domain}.enable")

    def __enter__(self) -> Browser:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._commands.close()  # chromium ends when nobody can command it
        try:
            self._child.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
        self._answers.close()

    def _receive(self) -> Json:
        text = bytearray()
        while (byte := self._answers.read(1)) != b"\0":
            assert byte, "chromium ended"
            text += byte
        message: Json = json.loads(text)
        self._note(message.get("method", ""), message.get("params", {}))
        return message

    def _note(self, method: str, params: Json) -> None:
        if method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.complaints.append(str(details.get("exception", details).get("description")))
        elif method == "Runtime.consoleAPICalled":
            self.complaints.append(str([x.get("value") for x in params["args"]]))
        elif method == "Log.entryAdded":
            self.complaints.append(params["entry"]["text"])

    def _send(self, method: str, params: Json | None = None) -> Json:
        self._last += 1
        message: Json = {"id": self._last, "method": method, "params": params or {}}
        if self._session is not None:
            message["sessionId"] = self._session
        self._commands.write(json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._last:
                assert "error" not in answer, answer
                result: Json = answer["result"]
                return result

    def open(self, page: Path, fragment: str = "") -> None:
        """Loads a page anew and waits until its program has started."""
        self._send("Page.navigate", {"url": "about:blank"})
        self.requests.clear()
        self._send("Page.navigate", {"url": f"file://{quote(str(page))}{fragment}"})
        deadline = time.monotonic() + 60
        ready = "location.protocol === 'file:' && document.documentElement?.dataset.ready"
        # While one document gives way to the next there may be none to ask.
        while self._evaluate(ready).get("result", {}).get("value") != "true":
            assert time.monotonic() < deadline, f"{page} does not start: {self.complaints}"
            time.sleep(0.01)

    def _evaluate(self, expression: str) -> Json:
        return self._send(
            "Runtime.evaluate",
            {"expression": expression, "returnByValue": True, "awaitPromise": True},
        )

    def run(self, expression: str) -> Any:
        """The value of a JavaScript expression, or of what it promises."""
        answer = self._evaluate(expression)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def texts(self, selector: str) -> list[str]:
        """What is written in the elements that are shown."""
        found: list[str] = self.run(
            f"[...document.querySelectorAll({json.dumps(selector)})]"
            ".filter((x) => x.getClientRects().length > 0).map((x) => x.textContent)"
        )
        return found

    def click(self, selector: str) -> None:
        """A click of the mouse in the middle of the element."""
        box = self.run(
            "(() => { const x = document.querySelector("
            f"{json.dumps(selector)}); x.scrollIntoView({{block: 'nearest'}}); "
            "const r = x.getBoundingClientRect(); "
            "return [r.x + r.width / 2, r.y + r.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self._send(
                "Input.dispatchMouseEvent",
                {
                    "type": kind,
                    "x": box[0],
                    "y": box[1],
                    "button": "left",
                    "clickCount": 1,
                },
            )

    def press(self, key: str) -> None:
        text = key if len(key) == 1 else "\r" if key == "Enter" else ""
        codes = {
            "Enter": 13,
            "Escape": 27,
            "ArrowRight": 39,
            "ArrowLeft": 37,
            "ArrowDown": 40,
        }
        common = {"key": key, "windowsVirtualKeyCode": codes.get(key, ord(key[0]))}
        self._send("Input.dispatchKeyEvent", {"type": "keyDown", "text": text, **common})
        self._send("Input.dispatchKeyEvent", {"type": "keyUp", **common})

    def picture(self, file: Path) -> None:
        data = self._send("Page.captureScreenshot", {"format": "png"})["data"]
        file.write_bytes(base64.b64decode(data))
