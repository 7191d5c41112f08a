"""A page that the network can't reach, and that notes whatever goes wrong on it."""

import re
import time

from tests.conftest import LONGEST_WAIT

DESKTOP = {"width": 1280, "height": 900}
# A window that the browser doesn't draw finishes nothing: what still moves after a
# while is taken to its end.
HOLD_STILL = """async () => {
    document.body.getBoundingClientRect();
    await Promise.race([
        Promise.allSettled(document.getAnimations().map((one) => one.finished)),
        new Promise((done) => setTimeout(done, 5000)),
    ]);
    for (const one of document.getAnimations()) one.cancel();
}"""


def hold_still(page):
    """Let what fades and slides on a page come to its end."""
    page.evaluate(HOLD_STILL)


class Watched:
    """A browser page; only what lies below ``origin`` is answered."""

    def __init__(self, browser, origin):
        self.origin = origin
        self.context = browser.new_context(viewport=DESKTOP)
        self.page = self.context.new_page()
        self.wrong = []
        self.held = 0  # how often the page has asked whether to leave it
        elsewhere = re.compile(f"^(?!{re.escape(origin)})")
        self.page.route(elsewhere, self._refuse)
        self.page.on("requestfailed", self._lacks)
        self.page.on("pageerror", lambda error: self.wrong.append(f"error: {error}"))
        self.page.on("response", self._answered)
        self.page.on("console", self._said)
        self.page.on("dialog", self._asked)

    def start_anew(self):
        """Let the next test find the page as the first one did."""
        self.page.set_viewport_size(DESKTOP)
        self.page.emulate_media(media="screen", color_scheme="light")
        self.page.mouse.move(0, 0)
        self.page.goto("about:blank")  # what the last page was loading ends here
        self.page.evaluate("0")  # whatever was said before this answer has been noted
        self.wrong.clear()

    def wait_for(self, pattern, seconds=LONGEST_WAIT):
        """Wait until something of that kind was noted."""
        ends = time.monotonic() + seconds
        while not re.search(pattern, " ".join(self.wrong)):
            assert time.monotonic() < ends, f"not noted: {pattern}, only {self.wrong}"
            self.page.wait_for_timeout(20)  # meanwhile the browser tells more

    def close(self):
        """Close the page and all that belongs to it."""
        self.context.close()

    def _refuse(self, route):
        self.wrong.append(f"external: {route.request.url}")
        route.abort()

    def _lacks(self, request):
        """What leaving a page cuts off isn't wrong; all else that fails is."""
        if request.failure != "net::ERR_ABORTED":
            self.wrong.append(f"failed: {request.url}, {request.failure}")

    def _answered(self, response):
        if response.status >= 400:
            self.wrong.append(f"{response.status}: {response.url}")

    def _said(self, message):
        if message.type in ("error", "warning"):
            self.wrong.append(f"console: {message.text}")

    def _asked(self, dialog):
        if dialog.type == "beforeunload":
            self.held += 1
            dialog.accept()
            return
        self.wrong.append(f"dialog: {dialog.message}")
        dialog.dismiss()
