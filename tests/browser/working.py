"""The worker of a real model in a page, as a test speaks with it."""

import base64

from helpers.views.view import bundle_of

LAST = ("opened", "reading", "ended", "failed")
NO_VECTORS = "const WebAssembly = undefined;\n"
BYTES_OF = (
    "const bytesOf = (text) =>"
    " Uint8Array.from(atob(text), (one) => one.charCodeAt(0));\n"
)
PAGE = """
window.begin = (code) => {
  window.worker?.terminate();
  window.worker = new Worker(URL.createObjectURL(new Blob([code])));
  window.heard = [];
  window.wake = () => {};
  worker.onmessage = ({ data }) => { heard.push(data); wake(); };
  worker.onerror = ({ message }) => { heard.push({ kind: "error", message }); wake(); };
};
const plain = (message) => JSON.parse(JSON.stringify(message, (_, value) =>
  value instanceof Uint8Array ? Array.from(value) : value));
window.answers = async (number, last) => {
  for (const begun = performance.now(); performance.now() < begun + 240_000; ) {
    const found = heard.filter((one) => [number, undefined].includes(one.number));
    const ends = [...last, "error"];
    const end = found.findIndex(({ kind }) => ends.includes(kind));
    if (end >= 0) return found.slice(0, end + 1).map(plain);
    await new Promise((resolve) => {
      window.wake = resolve;
      setTimeout(resolve, 1000);
    });
  }
  throw new Error(`no ${last} to message ${number}`);
};
"""


def in_base64(content):
    """Bytes as a page takes them."""
    return base64.b64encode(content).decode()


class Worked:
    """A worker in a page, and what it answers.

    Args:
        page: a page of Playwright's.
        before: JavaScript that stands before the worker's own.
    """

    def __init__(self, page, before=""):
        self.page, self.number = page, 0
        page.evaluate(f"() => {{ {BYTES_OF} {PAGE} window.bytesOf = bytesOf; }}")
        page.evaluate("(code) => begin(code)", before + bundle_of("model_worker"))

    def send(self, kind, **message):
        """Send a message, and wait for nothing; returns its number."""
        self.number += 1
        message = {"kind": kind, "number": self.number} | message
        self.page.evaluate("(message) => worker.postMessage(message)", message)
        return self.number

    def answers(self, number, *last):
        """All answers to a message, up to the first one of some kinds."""
        asked = [number, list(last or LAST)]
        return self.page.evaluate("([number, last]) => answers(number, last)", asked)

    def ask(self, kind, **message):
        """The last answer to a message."""
        return self.answers(self.send(kind, **message))[-1]

    def open(self, content, expected=None):
        """Open a file of some bytes; returns all answers."""
        self.number += 1
        self.page.evaluate(
            """([number, content, expected]) => worker.postMessage({ kind: "open",
                number, file: new Blob([bytesOf(content)]), expected })""",
            [self.number, in_base64(content), expected],
        )
        return self.answers(self.number)

    def open_file(self, path, expected=None):
        """Open a file that a reader chooses; returns all answers."""
        self.number += 1
        self.page.set_content("<input type=file>")
        self.page.locator("input").set_input_files(path)
        self.page.evaluate(
            """([number, expected]) => worker.postMessage({ kind: "open", number,
                file: document.querySelector("input").files[0], expected })""",
            [self.number, expected],
        )
        return self.answers(self.number)

    def read(self, text, *, chat=False, off=()):
        """The reading of a text, or the words that say why there is none."""
        answer = self.ask("read", text=text, chat=chat, off=list(off))
        return answer.get("reading") or answer["message"]

    def write(self, most, *, temperature=0, top_p=1, seed=1):
        """All answers while it writes."""
        how = {"temperature": temperature, "topP": top_p, "seed": seed, "most": most}
        return self.answers(self.send("write", **how), "ended", "failed")
