"""The parts of the page's own real model, each by itself: hash, tokenizer, products."""

import hashlib
import random

import gguf
import numpy as np
import pytest

from helpers.text.subwords import SubwordTokenizer
from helpers.views.view import bundle_of
from tests.browser.working import BYTES_OF, in_base64
from tests.samples import lines, tiny_llama

KINDS = {"Q4_1": 20, "Q8_0": 34}


@pytest.fixture(scope="module")
def run(chromium):
    """A function that runs lines behind a module, with an ``input``."""
    context = chromium.new_context()
    page = context.new_page()
    yield lambda name, body, given=None: page.evaluate(
        f"async (input) => {{ {BYTES_OF} {bundle_of(name)}\n{body} }}", given
    )
    context.close()


# --- SHA-256 --------------------------------------------------------------------------


def test_the_pages_own_sha_256_is_that_of_python(run):
    rng = random.Random(0)
    texts = [rng.randbytes(length) for length in (*range(130), 1000, 5_000_001)]
    found = run(
        "sha256",
        """const done = [];
        const digests = [];
        for (const text of input)
          digests.push(sha256(bytesOf(text), (one) => done.push(one)));
        return [digests, done];""",
        [in_base64(text) for text in texts],
    )
    digests, done = found
    assert digests == [hashlib.sha256(text).hexdigest() for text in texts]
    assert done[-2:] == [4_194_304, 5_000_001]


def test_what_is_hashed_in_pieces_is_hashed_whole(run):
    content = random.Random(1).randbytes(777)
    found = run(
        "sha256",
        """const hash = new Sha256();
        const bytes = bytesOf(input);
        for (let at = 0, size = 1; at < bytes.length; size = (size * 7) % 130) {
          hash.update(bytes.subarray(at, at + size));
          at += size;
        }
        return hash.digest();""",
        in_base64(content),
    )
    assert found == hashlib.sha256(content).hexdigest()


# --- byte pairs -----------------------------------------------------------------------

METADATA = [
    ["tokenizer.ggml.model", "gpt2"],
    ["tokenizer.ggml.pre", "smollm"],
    ["tokenizer.ggml.tokens", tiny_llama.tokens()],
    ["tokenizer.ggml.token_type", [3, 3, 3] + [1] * (len(tiny_llama.tokens()) - 3)],
    ["tokenizer.ggml.merges", tiny_llama.MERGES],
]
TOKENIZER = f"""
const {{ metadata }} = input;
const pairs = new BytePairs(new Map(metadata), {len(tiny_llama.tokens())});
"""


def tokenizer():
    return SubwordTokenizer.from_merges(
        tiny_llama.tokens(),
        [tuple(merge.split()) for merge in tiny_llama.MERGES],
        special=tiny_llama.SPECIAL,
        split_digits=True,
    )


TEXTS = [
    *(
        "",
        " ",
        "the cat's on 100 cats",
        "a  b   c ",
        "a\u0085  the",
        "\ufeffBOM \u0085 \u2028x",
        "½²①",
    ),
    *("<|im_start|>user", "  the\n\n\tthe  ", "'s'S don't it'll", "sisisisi ooooo"),
]


@pytest.mark.parametrize("count", [200, pytest.param(10_000, marks=pytest.mark.slow)])
def test_ids_and_pieces_are_those_of_helpers(run, count):
    texts = [*TEXTS, *lines.lines()[:count]]
    given = {"metadata": METADATA, "texts": texts}
    found = run(
        "byte_pairs",
        f"""{TOKENIZER}
        const ids = input.texts.map((text) => pairs.encode(text));
        return ids.map((one) => [one, pairs.pieces(one)]);""",
        given,
    )
    expected = tokenizer()
    for text, (ids, pieces) in zip(texts, found, strict=True):
        assert ids == expected.encode(text), text
        assert pieces == expected.pieces(ids)


def test_a_character_of_several_tokens_comes_when_it_is_whole(run):
    found = run(
        "byte_pairs",
        f"""{TOKENIZER}
        const ids = pairs.encode("a🧪b");
        const texts = ids.map((_, i) => pairs.decode(ids.slice(0, i + 1)));
        return [texts, pairs.pieces(ids)];""",
        {"metadata": METADATA},
    )
    assert found == [["a", "a", "a", "a", "a🧪", "a🧪b"], ["a", *"\ufffd" * 4, "b"]]


def test_a_text_that_would_turn_into_a_special_token(run):
    metadata = dict(map(tuple, METADATA))
    metadata["tokenizer.ggml.token_type"] = [
        3 if one == "cat" else 1 for one in tiny_llama.tokens()
    ]
    found = run(
        "byte_pairs",
        f"""{TOKENIZER}
        try {{ pairs.encode("a cat"); return pairs.encode("cat"); }}
        catch (error) {{ return error.message; }}""",
        {"metadata": list(map(list, metadata.items()))},
    )
    assert found == "The text would turn into the special token cat."


def test_a_long_word_takes_no_long_time(run):
    milliseconds = run(
        "byte_pairs",
        f"""{TOKENIZER}
        const begun = performance.now();
        pairs.encode("o".repeat(8000));
        return performance.now() - begun;""",
        {"metadata": METADATA},
    )
    assert milliseconds < 5000


# --- products -------------------------------------------------------------------------


def packed(kind, rows, columns, seed):
    """Random blocks, and the numbers that they stand for."""
    rng = np.random.default_rng(seed)
    count = rows * columns // 32
    content = rng.integers(0, 256, (count, KINDS[kind]), dtype=np.uint8)
    scales = (
        rng.normal(size=(count, 2)) * 10.0 ** rng.integers(-7, 2, (count, 2))
    ).astype(np.float16)
    scales[:3, 0] = [0, -0.0, 6e-8]  # the last one is the smallest float16
    content[:, : 4 if kind == "Q4_1" else 2] = scales.view(np.uint8)[
        :, : 4 if kind == "Q4_1" else 2
    ]
    content = content.reshape(rows, -1)
    numbers = gguf.dequantize(content, gguf.GGMLQuantizationType[kind])
    return content, numbers.astype(np.float64)


PRODUCTS = """
const content = bytesOf(input.content);
const products = input.vectors
  ? productsFor(content.length)
  : new Products(new Uint8Array(content.length));
products.bytes.set(content);
const { kind, rows, columns, stride, N } = input;
const x = Float32Array.from(input.x);
const y = new Float32Array(N * rows);
const matrix = { kind, at: 3 * stride, rows, columns, stride };
products.multiply(matrix, x, y, N);
const row = new Float32Array(columns + 2);
products.row(matrix, 4, row, 1);
return [products.name, Array.from(y), Array.from(row)];
"""


@pytest.mark.parametrize("vectors", [True, False], ids=["WebAssembly", "JavaScript"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("N", [1, 2, 4, 7, 16])
def test_a_product_is_that_of_the_unpacked_matrix(run, vectors, kind, N):
    rows, columns = 11, 96
    content, numbers = packed(kind, rows + 3, columns, seed=N)
    x = np.random.default_rng(N).normal(size=(N, columns)).astype(np.float32)
    given = {"content": in_base64(content.tobytes()), "vectors": vectors, "kind": kind}
    given |= {"rows": rows, "columns": columns, "stride": content.shape[1], "N": N}
    name, y, row = run("vector_products", PRODUCTS, given | {"x": x.flatten().tolist()})
    assert name == ("WebAssembly" if vectors else "JavaScript")
    expected = x @ numbers[3:].T
    most = abs(x) @ abs(numbers[3:].T)  # what rounding is measured by
    found = np.array(y).reshape(N, rows)
    assert (abs(found - expected) <= 1e-6 * most).all()
    assert row[0] == row[-1] == 0
    np.testing.assert_allclose(row[1:-1], numbers[7], rtol=1e-6)
