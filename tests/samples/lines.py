"""Lines of all kinds, on which tokenizers are compared; the same on every machine.

``python -m tests.samples.lines FILE.gguf`` writes what llama.cpp makes of them into
``tests/data/token_ids.json``, in an environment that has llama-cpp-python.
"""

import hashlib
import json
import random
import sys

from tests import ROOT

RECORD = ROOT / "tests" / "data" / "token_ids.json"
COUNT = 10_000
WORDS = [
    *("the", "of", "and", "attention", "queries", "because", "however", "don't"),
    *("it's", "we'll", "I'm", "re-reads", "tokenisation", "Paris", "GPU", "x²"),
    *("supercalifragilistic", "naïve", "café", "Straße", "hello", "HELLO", "Hello"),
    *("antidisestablishmentarianism", "3rd", "e.g.", "U.S.A.", "state-of-the-art"),
]
SCRIPTS = {
    "Latin": (0x41, 0x24F),
    "Greek": (0x370, 0x3FF),
    "Cyrillic": (0x400, 0x4FF),
    "Hebrew": (0x5D0, 0x5EA),
    "Arabic": (0x620, 0x64A),
    "Devanagari": (0x904, 0x939),
    "Thai": (0xE01, 0xE3A),
    "Hangul": (0xAC00, 0xD7A3),
    "Kana": (0x3041, 0x30FF),
    "Han": (0x4E00, 0x9FA5),
}
SPACES = (" ", "  ", "   ", "\t", "\u00a0", "\u3000", " \t ", "    ")
PUNCTUATION = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~…–—“”„‘’«»¿¡€£•"
CODE = (
    "def f(x):",
    "    return x ** 2",
    "for (int i = 0; i < n; ++i) {",
    "if __name__ == '__main__':",
    '<div class="row">&nbsp;</div>',
    "SELECT * FROM t WHERE a >= 10;",
    "a[i] += b[j] // 2  # 1e-5",
    "https://example.org/?q=a%20b&c=1",
    "\\frac{\\alpha}{\\sqrt{D}}",
    "git commit -m 'Fix'",
)
EMOJI = ("😀", "👍🏽", "👩‍👩‍👧", "🇩🇪", "❤️", "🧪", "✅", "½", "™", "①")


def lines():
    """COUNT lines: prose, digits, spaces, scripts, code, emoji, and all of it mixed."""
    rng = random.Random("lines of all kinds")
    kinds = (_prose, _numbers, _spaces, _script, _code, _emoji, _marks, _mixed)
    return [kinds[i % len(kinds)](rng) for i in range(COUNT)]


def digest(ids):
    """Eight hexadecimal places that stand for a line's ids."""
    return hashlib.sha256(" ".join(map(str, ids)).encode()).hexdigest()[:8]


def _prose(rng):
    words = [rng.choice(WORDS) for _ in range(rng.randint(1, 12))]
    return " ".join(words) + rng.choice(".,!?;: ")


def _numbers(rng):
    written = (
        str(rng.randrange(10 ** rng.randint(1, 9))),
        f"{rng.random():.{rng.randint(1, 6)}f}",
        f"{rng.randrange(10**7):,}",
        f"{rng.randint(1, 28)}.{rng.randint(1, 12)}.{rng.randint(1900, 2099)}",
        f"-{rng.randrange(100)}e{rng.randrange(20)}",
    )
    return rng.choice(("", "in ", "€", "No. ")) + rng.choice(written)


def _spaces(rng):
    parts = [rng.choice(SPACES) + rng.choice(WORDS) for _ in range(rng.randint(1, 5))]
    return "".join(parts) + rng.choice(SPACES)


def _script(rng):
    first, last = SCRIPTS[rng.choice(list(SCRIPTS))]
    words = (
        "".join(chr(rng.randint(first, last)) for _ in range(rng.randint(1, 8)))
        for _ in range(rng.randint(1, 4))
    )
    return " ".join(words)


def _code(rng):
    return rng.choice(("", "  ", "\t")) + rng.choice(CODE)


def _emoji(rng):
    return "".join(
        rng.choice(EMOJI) + rng.choice(("", " ", "a")) for _ in range(rng.randint(1, 5))
    )


def _marks(rng):
    return "".join(rng.choice(PUNCTUATION + " ") for _ in range(rng.randint(1, 12)))


def _mixed(rng):
    kinds = (_prose, _numbers, _script, _code, _emoji, _marks)
    return rng.choice(SPACES).join(rng.choice(kinds)(rng) for _ in range(3))


def main(path):
    """Write llama.cpp's ids of all lines into the record, as digests."""
    import llama_cpp

    model = llama_cpp.Llama(path, vocab_only=True, verbose=False)
    found = [
        digest(model.tokenize(line.encode(), add_bos=False, special=False))
        for line in lines()
    ]
    by = f"llama.cpp, as llama-cpp-python {llama_cpp.__version__} brings it"
    record = {"smollm2-135m": {"by": by, "digests": " ".join(found)}}
    RECORD.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
