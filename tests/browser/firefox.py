"""Firefox as the system has installed it, spoken to in WebDriver BiDi.

Playwright drives a Firefox of its own only, which a system's packages don't bring.
Source: W3C, WebDriver BiDi, https://www.w3.org/TR/webdriver-bidi/.
"""

import json
import pathlib
import shutil
import subprocess
import tempfile
import time

import websocket

from tests.conftest import LONGEST_WAIT

EVENTS = ["log.entryAdded", "network.fetchError"]
# The first run of Firefox would open pages of its own and ask its maker for news.
SETTINGS = {
    "app.update.enabled": "false",
    "browser.aboutwelcome.enabled": "false",
    "browser.startup.homepage_override.mstone": '"ignore"',
    "datareporting.policy.dataSubmissionEnabled": "false",
    "remote.active-protocols": "1",
    "security.fileuri.strict_origin_policy": "true",
}


class FirefoxError(Exception):
    """What Firefox has answered in place of a result."""


class Firefox:
    """A headless Firefox with one page.

    Attributes:
        wrong: what has gone wrong on the page since it was asked for last.
    """

    def __init__(self, program):
        self._profile = pathlib.Path(tempfile.mkdtemp(prefix="firefox"))
        lines = [f'user_pref("{name}", {value});' for name, value in SETTINGS.items()]
        (self._profile / "user.js").write_text("\n".join(lines), encoding="utf-8")
        options = ["--headless", "--no-remote", "--profile", self._profile]
        self._process = subprocess.Popen(
            [program, *options, "--remote-debugging-port", "0"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._number, self.wrong = 0, []
        self._socket = websocket.create_connection(
            f"{self._address()}/session", timeout=LONGEST_WAIT, suppress_origin=True
        )
        self._ask("session.new", capabilities={})
        self._ask("session.subscribe", events=EVENTS)
        self._page = self._ask("browsingContext.create", type="tab")["context"]

    def _address(self):
        """Where it listens, once it has said so in its profile."""
        path = self._profile / "WebDriverBiDiServer.json"
        deadline = time.monotonic() + LONGEST_WAIT
        while time.monotonic() < deadline and self._process.poll() is None:
            if path.exists() and (text := path.read_text(encoding="utf-8")):
                server = json.loads(text)
                return f"ws://{server['ws_host']}:{server['ws_port']}"
            time.sleep(0.1)
        raise FirefoxError("Firefox doesn't listen")

    def _ask(self, method, **parameters):
        """Send a command, note the events that come before its answer, return that."""
        self._number += 1
        command = {"id": self._number, "method": method, "params": parameters}
        self._socket.send(json.dumps(command))
        while (answer := json.loads(self._socket.recv())).get("id") != self._number:
            self._note(answer)
        if answer["type"] == "error":
            raise FirefoxError(f"{method}: {answer['error']}: {answer['message']}")
        return answer["result"]

    def _note(self, event):
        said = event["params"]
        if event["method"] == "network.fetchError":
            self.wrong.append(f"failed: {said['request']['url']}: {said['errorText']}")
        elif said["level"] in ("error", "warn"):
            self.wrong.append(f"{said['level']}: {said['text']}")

    def open(self, address):
        """Open an address, and wait until the page has loaded."""
        self.wrong.clear()
        self._ask(
            "browsingContext.navigate",
            context=self._page,
            url=address,
            wait="complete",
        )

    def resize(self, width, height=900):
        """Give the page so many pixels."""
        size = {"width": width, "height": height}
        self._ask("browsingContext.setViewport", context=self._page, viewport=size)

    def evaluate(self, expression):
        """The value of an expression in JavaScript, by way of JSON."""
        answer = self._ask(
            "script.evaluate",
            expression=f"Promise.resolve({expression}).then(JSON.stringify)",
            target={"context": self._page},
            awaitPromise=True,
        )
        if answer["type"] == "exception":
            raise FirefoxError(answer["exceptionDetails"]["text"])
        text = answer["result"].get("value")
        return None if text is None else json.loads(text)

    def press(self, key):
        """Press and let go a key: a character, or one of BiDi's codes for a key."""
        keys = [{"type": type_, "value": key} for type_ in ("keyDown", "keyUp")]
        source = {"type": "key", "id": "keyboard", "actions": keys}
        self._ask("input.performActions", context=self._page, actions=[source])

    def hand_over(self, place, path):
        """Choose a file in the field at a place, a selector."""
        answer = self._ask(
            "script.evaluate",
            expression=f"document.querySelector({json.dumps(place)})",
            target={"context": self._page},
            awaitPromise=False,
        )
        element = {"sharedId": answer["result"]["sharedId"]}
        self._ask(
            "input.setFiles",
            context=self._page,
            element=element,
            files=[str(path)],
        )

    def close(self):
        """End Firefox, and remove what it has written."""
        self._socket.close()
        self._process.terminate()
        self._process.wait(timeout=LONGEST_WAIT)
        shutil.rmtree(self._profile, ignore_errors=True)
