"""Files that a reader hands over to the worker: the wheel, and what it can't use."""

import hashlib
import random

import pytest

from helpers.views.view import bundle_of
from tests.browser.test_model_worker import TEXT, same_reading
from tests.browser.working import BYTES_OF, Worked, in_base64
from tests.samples.tiny_llama import WHEEL_PATH, content, tiny, wheel


@pytest.fixture(scope="module")
def page(chromium):
    """A page that runs workers."""
    context = chromium.new_context()
    yield context.new_page()
    context.close()


@pytest.fixture
def worker(page):
    """A worker that has opened the tiny model."""
    worked = Worked(page)
    worked.open(tiny()[0])
    return worked


def damaged(whole):
    return whole[:-40] + bytes([whole[-40] ^ 1]) + whole[-39:]


def expected_of(whole):
    digest = hashlib.sha256(whole).hexdigest()
    return {"name": "Tiny", "bytes": len(whole), "sha256": digest}


def refused(worker, found, expected, message):
    """The file isn't taken, and the model that was there still reads."""
    answer = worker.open(found, expected)[-1]
    assert answer["kind"] == "failed"
    assert message in answer["message"]
    assert worker.read("the cat")["text"] == "the cat"


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda whole: b"", "is neither a model (a .gguf begins with “GGUF”), nor a"),
        (lambda whole: b"\x89PNG" + whole, "is neither a model (a .gguf begins with"),
        (lambda whole: whole[:-1000], "is cut off: its last 1,000 bytes are missing."),
        (lambda whole: whole[:500], "The file is cut off: it ends inside its header."),
        (lambda whole: b"GGUF", "The file is cut off: it ends inside its header."),
        (damaged, "is damaged, or another one of the same size: its SHA-256 should be"),
        (
            lambda _: content(tied=False),
            "The file holds another model than Tiny: A tiny Llama, with",
        ),
    ],
)
def test_another_file_than_the_expected_one(worker, spoil, message):
    whole = tiny()[0]
    refused(worker, spoil(whole), expected_of(whole), message)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"texts": [("general.alignment", "wide")]},
            "The file is broken: its alignment is wide.",
        ),
        (
            {"architecture": "gpt2"},
            "The file holds a model of another architecture than Llama: gpt2.",
        ),
        (
            {"texts": [("tokenizer.ggml.pre", "llama-bpe")]},
            "The file has another tokenizer than SmolLM's: gpt2, llama-bpe.",
        ),
        (
            {"leave_out": ["blk.1.ffn_up.weight"]},
            "The file lacks the tensor blk.1.ffn_up.weight.",
        ),
        (
            {"more": ["blk.0.attn_q.bias"]},
            "The file has a tensor that this page's Llama doesn't use: blk.0.attn_q.b",
        ),
        (
            {"settings": [("attention.head_count", 5)]},
            "The model's 5 heads and 2 key and value heads don't share its width of 64",
        ),
        (
            {"settings": [("rope.dimension_count", 8)]},
            "The model has other rotary positions than this page computes.",
        ),
        (
            {"settings": [("attention.head_count_kv", 0)]},
            "lacks the model's attention.head_count_kv, or it isn't a positive number.",
        ),
        (
            {"matrices": "Q5_0"},
            "The tensor blk.0.attn_q.weight is stored in a way that this page doesn't "
            "read (number 6 in GGUF); it reads F32, Q4_1, Q8_0.",
        ),
    ],
)
def test_a_model_of_another_kind(worker, options, message):
    refused(worker, content(**options), None, message)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda whole: b"GGUF\x09" + whole[5:], "has version 9; this page reads 2 and"),
        (lambda whole: whole[:8] + b"\xff" * 8 + whole[16:], "The file is broken: the"),
        (
            lambda whole: whole[:16] + b"\xff" * 8 + whole[24:],
            "it ends inside its head",
        ),
    ],
)
def test_a_header_that_is_broken(worker, spoil, message):
    refused(worker, spoil(tiny()[0]), None, message)


SPOIL = """async ({ content, spoiled }) => {
  const said = new Set();
  for (const [place, byte] of spoiled) {
    const bytes = bytesOf(content);
    bytes[place] = byte;
    try {
      const { session } = await openModel(new Blob([bytes]), undefined, () => {});
      session.begin("the cat", false, []);
      for (const _ of session.catchUp());
      said.add("read");
    } catch (error) {
      said.add(error.message);
    }
  }
  return [...said];
}"""


@pytest.mark.parametrize("count", [150, pytest.param(1000, marks=pytest.mark.slow)])
def test_whatever_byte_of_the_header_is_wrong_a_sentence_says_so(page, count):
    whole = tiny()[0]
    rng = random.Random(count)
    header = whole.rindex(b"output_norm.weight") + 42
    spoiled = [(rng.randrange(4, header), rng.randrange(256)) for _ in range(count)]
    page.add_script_tag(
        content=f"{{ {BYTES_OF} {bundle_of('model_file')}"
        " Object.assign(window, { openModel, bytesOf }) }"
    )
    said = page.evaluate(SPOIL, {"content": in_base64(whole), "spoiled": spoiled})
    assert "read" in said
    assert len(said) > 5
    for sentence in set(said) - {"read"}:
        assert sentence.startswith(("The ", "This ")), sentence
        assert sentence.endswith("."), sentence


# --- the wheel ------------------------------------------------------------------------


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize(
    "comment", [b"", b"a comment with PK\x05\x06 and more words behind it"]
)
def test_the_wheel_gives_the_same_model(worker, packed, comment):
    whole = tiny()[0]
    before = worker.read(TEXT)
    zipped = wheel(whole, packed=packed, comment=comment)
    *told, answer = worker.open(zipped, expected_of(whole))
    assert answer["kind"] == "opened", answer
    assert answer["model"]["name"] == "Tiny"
    assert {one["stage"] for one in told} == {"unpacking", "checking"}
    for stage in ("unpacking", "checking"):
        done = [(one["done"], one["total"]) for one in told if one["stage"] == stage]
        assert done == sorted(done)
        assert done[-1] == (len(whole), len(whole))
    same_reading(worker.read(TEXT), before)


def with_number(whole, place, value, width=2, mark=b"PK\x01\x02"):
    """A wheel with another number in the last entry of its list, or at its end."""
    zipped = wheel(whole)
    at = zipped.rindex(mark) + place
    return zipped[:at] + value.to_bytes(width, "little") + zipped[at + width :]


def with_broken_stream(whole):
    """A wheel whose packed file begins with a block of a kind that there isn't."""
    zipped = wheel(whole)
    at = zipped.index(WHEEL_PATH.encode()) + len(WHEEL_PATH)
    return zipped[:at] + b"\xff" + zipped[at + 1 :]


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda _: wheel(b"x", name="a.txt"), "it holds none."),
        (
            lambda whole: wheel(whole, others=("other.gguf",)),
            "The zip should hold one file whose name ends with .gguf; it holds 2.",
        ),
        (lambda whole: wheel(whole)[:-30], "The zip is cut off: the list of"),
        (
            lambda whole: wheel(whole[:-1000]),
            "The file is cut off: its last 1,000 bytes are missing.",
        ),
        (lambda whole: wheel(b"no model"), "it doesn't begin with “GGUF”."),
        (
            lambda whole: with_number(whole, 8, 1),
            f"{WHEEL_PATH} is encrypted in the zip.",
        ),
        (
            lambda whole: with_number(whole, 10, 14),
            "is packed in a way that this page doesn't read (method 14).",
        ),
        (
            lambda whole: with_number(whole, 24, 2**32 - 1, 4),
            "The zip has the form zip64, which this page can't read.",
        ),
        (
            lambda whole: with_number(whole, 24, 10**9, 4),
            "The file has 1,000,000,000 bytes, more than a model that this page can",
        ),
        (
            lambda whole: with_number(whole, 24, 99, 4),
            "The file is broken: it is longer than the zip says.",
        ),
        (
            lambda whole: with_number(whole, 42, 7, 4),
            "The zip is broken: its list leads to something else than a file.",
        ),
        (
            lambda whole: with_number(whole, 16, 7, 4, b"PK\x05\x06"),
            "The zip is broken: the list of its files can't be read.",
        ),
        (
            with_broken_stream,
            "The file couldn't be read to its end.",
        ),
    ],
)
def test_a_wheel_that_cant_be_used_is_named(worker, spoil, message):
    refused(worker, spoil(tiny()[0]), None, message)


# A device on which arrays of one size can't be had.
LACKING = """
const lack = () => { throw new RangeError("Array buffer allocation failed"); };
globalThis.Uint8Array = new Proxy(Uint8Array, {
  construct: (Real, [size, ...more]) => size === %d ? lack() : new Real(size, ...more),
});
"""
NO_MEMORY = "WebAssembly.Memory = function () { throw new RangeError('none'); };\n"


@pytest.mark.parametrize("before", [NO_MEMORY, LACKING % (12 * 256 * 257 // 2)])
def test_a_model_for_which_memory_is_lacking(page, before):
    answer = Worked(page, before).open(tiny()[0])[-1]
    assert answer["message"] == (
        "This device lacks the memory for the model: the file alone takes 84,768 bytes."
    )


def test_a_text_for_which_memory_is_lacking(page):
    worker = Worked(page, LACKING % (12 * 3 * 4 // 2))
    worker.open(tiny()[0])
    assert worker.read("the cat") == (
        "This device lacks the memory for that. Close other pages, or take a shorter "
        "text."
    )
    assert worker.read("the cats")["text"] == "the cats"


@pytest.mark.parametrize(
    ("allowed", "compute"),
    [("", "JavaScript"), ("'wasm-unsafe-eval'", "WebAssembly")],
)
def test_the_pages_policy_decides_whether_webassembly_computes(
    chromium, tmp_path, allowed, compute
):
    policy = f"script-src 'unsafe-inline' {allowed}; worker-src blob:"
    path = tmp_path / "page.html"
    path.write_text(
        f'<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" '
        f'content="{policy}"><title>A page</title>',
        encoding="utf-8",
    )
    page = chromium.new_page()
    page.goto(path.as_uri())
    worker = Worked(page)
    assert worker.open(tiny()[0])[-1]["model"]["compute"] == compute
    assert worker.read(TEXT)["text"] == TEXT
    page.close()
