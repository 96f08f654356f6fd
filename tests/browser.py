"""A real browser without a window for pages with scripts: Debian's `chromium`, driven over its
DevTools protocol.
"""

from __future__ import annotations

import asyncio
import base64
import itertools
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import aiohttp

NAMES = ("chromium", "chromium-browser", "google-chrome")
PATIENCE = 60
"""Seconds for the browser to start or a page to load."""


def find_browser() -> str | None:
    """The program, None where there is none."""
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """An open browser. `requests` and `complaints` are what the page asked for and said since
    `open`.
    """

    def __init__(self, program: str, folder: Path):
        self._profile = folder / "profile"
        options = [
            "--headless",
            "--no-sandbox",
            "--disable-dev-shm-usage",
            "--no-first-run",
        ]
        options += [
            "--use-angle=swiftshader",
            "--enable-unsafe-swiftshader",
        ]  # WebGL without a graphics card
        self._process = subprocess.Popen(
            [
                program,
                *options,
                "--remote-debugging-port=0",
                f"--user-data-dir={self._profile}",
                "about:blank",
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._numbers = itertools.count(1)
        self._runner = asyncio.Runner()
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self._runner.run(self._connect())

    def open(self, page: Path) -> None:
        """Load a page and wait for its scripts."""
        self._call("Page.navigate", url="about:blank")
        self.requests.clear()
        self.complaints.clear()
        self._call("Page.navigate", url=page.resolve().as_uri())
        until = time.monotonic() + PATIENCE
        while self.run("location.protocol + document.readyState") != "file:complete":
            if time.monotonic() > until:
                raise TimeoutError(f"{page} does not load")

    def run(self, script: str) -> Any:
        """The value of an expression in the page."""
        answer = self._call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"]["exception"]["description"])
        return answer["result"].get("value")

    def picture(self, path: Path, width: int, height: int) -> None:
        """Write what a window of this size shows as PNG."""
        size = {
            "width": width,
            "height": height,
            "deviceScaleFactor": 1,
            "mobile": False,
        }
        self._call("Emulation.setScrollbarsHidden", hidden=True)
        self._call("Emulation.setDeviceMetricsOverride", **size)
        self.run(
            "new Promise(done => requestAnimationFrame(() => setTimeout(done, 500)))"
        )
        content = self._call("Page.captureScreenshot", format="png")["data"]
        path.write_bytes(base64.b64decode(content))

    def close(self) -> None:
        """End the browser."""
        self._runner.run(self._session.close())
        self._runner.close()
        self._process.terminate()
        self._process.wait()

    def _call(self, method: str, **parameters: Any) -> dict[str, Any]:
        return self._runner.run(self._ask(method, parameters))

    async def _connect(self) -> None:
        port = self._profile / "DevToolsActivePort"
        until = time.monotonic() + PATIENCE
        while not (port.exists() and port.read_text().strip()):
            if time.monotonic() > until or self._process.poll() is not None:
                raise RuntimeError("the browser does not start")
            await asyncio.sleep(0.05)
        self._session = aiohttp.ClientSession()
        address = f"http://127.0.0.1:{port.read_text().split()[0]}/json/list"
        async with self._session.get(address) as answer:
            (page, *_) = [
                target for target in await answer.json() if target["type"] == "page"
            ]
        self._socket = await self._session.ws_connect(
            page["webSocketDebuggerUrl"], max_msg_size=2**26
        )
        for domain in ("Page", "Runtime", "Log", "Network"):
            await self._ask(f"{domain}.enable", {})

    async def _ask(self, method: str, parameters: dict[str, Any]) -> dict[str, Any]:
        number = next(self._numbers)
        await self._socket.send_json(
            {"id": number, "method": method, "params": parameters}
        )
        while True:
            message = await asyncio.wait_for(self._socket.receive_json(), PATIENCE)
            if message.get("id") == number:
                return message["result"]
            self._note(message.get("method"), message.get("params", {}))

    def _note(self, event: str | None, told: dict[str, Any]) -> None:
        if (
            event == "Network.requestWillBeSent"
            and told["request"]["url"] != "about:blank"
        ):
            # what the page has in it
            if not told["request"]["url"].startswith("data:"):
                self.requests.append(told["request"]["url"])
        elif event == "Runtime.exceptionThrown":
            self.complaints.append(str(told["exceptionDetails"]))
        elif event in ("Runtime.consoleAPICalled", "Log.entryAdded"):
            self.complaints.append(str(told.get("args") or told["entry"]))
