"""A model's file in the page: what Python wrote is opened, and the other way round."""

import base64
import json

import pytest
import safetensors.torch
import torch

from helpers.models.model_file import FORMAT, load_model, save_model
from helpers.text.tokenizer import CharTokenizer
from helpers.views.view import bundle_of
from tests.samples.models import ids, model

ALPHABET = '\n"\\aé🐚 bcde'  # what JSON must escape, and UTF-8
CALLS = """
function fromText(text) {
  const file = Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
  return new Uint8Array([7, ...file, 7]).subarray(1, -1); // in the middle of a buffer
}
function again(text) {
  const { config, alphabet, named } = opened(fromText(text));
  const file = written(config, alphabet, shapesOf(config), named);
  const counts = Object.values(named).map((numbers) => numbers.length);
  return { config, alphabet, counts, file: btoa(String.fromCharCode(...file)) };
}
function complaint(call) {
  try {
    call();
  } catch (error) {
    return error.constructor === Error ? error.message : String([error.name, error]);
  }
}
"""


@pytest.fixture(scope="module")
def page(watched_views):
    """A page that knows the functions of safetensors.js; nothing may go wrong on it."""
    watched, _ = watched_views
    names = "written, opened, shapesOf, fromText, again, complaint"
    script = f"{bundle_of('safetensors')}\n{CALLS}"
    watched.page.add_script_tag(
        content=f"{{ {script}; Object.assign(window, {{ {names} }}) }}"
    )
    yield watched.page
    watched.page.evaluate("0")  # whatever was said before this answer has been noted
    assert watched.wrong == []


def as_text(content):
    return base64.b64encode(content).decode()


@pytest.mark.one_in(2)
@pytest.mark.parametrize(
    "options",
    [{}, {"positions": "rotary", "norm": "rms", "activation": "squared_relu"}],
    ids=["plain", "one-minute's"],
)
def test_a_file_of_python_is_opened_and_written_again(page, tmp_path, options):
    ours, path = model(**options), tmp_path / "model.safetensors"
    save_model(path, ours, CharTokenizer(ALPHABET))
    got = page.evaluate("again", as_text(path.read_bytes()))
    config = ours.config
    assert got["alphabet"] == ALPHABET
    assert got["config"] == {
        "vocabSize": 11,
        "contextLength": 12,
        "width": 24,
        "heads": 6,
        "layers": 2,
        "positions": config.positions,
        "norm": config.norm,
        "activation": config.activation,
    }
    weights = ours.state_dict()
    assert got["counts"] == [weight.numel() for weight in weights.values()]
    path.write_bytes(base64.b64decode(got["file"]))
    theirs, tokenizer = load_model(path)
    assert (theirs.config, tokenizer.alphabet) == (config, ALPHABET)
    for name, weight in theirs.state_dict().items():
        assert torch.equal(weight.view(torch.int32), weights[name].view(torch.int32))
    with torch.no_grad():
        assert torch.equal(theirs(ids(2, 12)), ours(ids(2, 12)))
    assert page.evaluate("again", as_text(path.read_bytes())) == got


def test_an_option_that_an_older_file_lacks_has_its_default(page):
    content = changed(lambda w, m, c: (c.pop("zero_init"), c.pop("positions")))
    got = page.evaluate("again", as_text(content))
    assert got["config"]["positions"] == "learned"


# --- what can't be opened -----------------------------------------------------------


def changed(change):
    """A model's file after a change of its weights, its metadata and its config."""
    weights, config = dict(model().state_dict()), dict(model().config.__dict__)
    metadata = {"format": FORMAT, "config": "", "alphabet": ALPHABET}
    change(weights, metadata, config)
    if metadata.get("config") == "":
        metadata["config"] = json.dumps(config)
    return safetensors.torch.save(weights, metadata)


def with_header(change):
    """A file whose header was changed by hand, which safetensors wouldn't write."""
    content = changed(lambda w, m, c: None)
    behind = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:behind])
    change(header)
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + content[behind:]


def widen(offsets):
    offsets[0] -= 4


def sized(**sizes):
    return lambda: changed(lambda w, m, c: c.update(sizes))


def cut(start, end):
    return lambda: changed(lambda w, m, c: None)[start:end]


NO_FILE = "This isn't a safetensors file with a model."
BROKEN = "The file is broken: its "
IN_ROW = f"{BROKEN}tensors don't stand one behind the other."
OPTION = "The model has an option that this page's trainer doesn't have: "
HEAD = "The tensor head.weight should "
NEST = "[" * 10**5 + "]" * 10**5
DEFECTS = {
    "empty": (lambda: b"", NO_FILE),
    "seven bytes": (cut(0, 7), NO_FILE),
    "a picture": (lambda: b"\x89PNG\r\n\x1a\n" + bytes(90), NO_FILE),
    "a text": (lambda: b"A story of a dog and a kite.", NO_FILE),
    "a huge header": (lambda: (2**63).to_bytes(8, "little") + b"{}", NO_FILE),
    "no brace": (lambda: (4).to_bytes(8, "little") + b"null", NO_FILE),
    "header cut": (cut(0, 99), "The file is cut off: it ends inside its header."),
    "numbers cut": (cut(0, -9), "The file is cut off: its last 9 bytes are missing."),
    "too long": (lambda: cut(0, None)() + b"1", "is broken: it is 1 bytes too long."),
    "no JSON": (lambda: (2).to_bytes(8, "little") + b"{{", BROKEN + "header can't"),
    "no UTF-8": (
        lambda: (7).to_bytes(8, "little") + b'{"\xff":1}',
        BROKEN + "header c",
    ),
    "deep": (
        lambda: changed(lambda w, m, c: m.update(config=f'{{"norm": {NEST}}}')),
        f"{OPTION}norm something else.",
    ),
    "no metadata": (
        lambda: with_header(lambda h: h.pop("__metadata__")),
        "and it is missing.",
    ),
    "odd metadata": (
        lambda: with_header(lambda h: h.update(__metadata__=None)),
        f"This file holds no model of this book: its format should be “{FORMAT}”, and",
    ),
    "another format": (
        lambda: changed(lambda w, m, c: m.update(format="pt")),
        f"should be “{FORMAT}”, and it is pt.",
    ),
    "no config": (
        lambda: changed(lambda w, m, c: m.pop("config")),
        f"{BROKEN}config can't be read.",
    ),
    "a list": (
        lambda: changed(lambda w, m, c: m.update(config="[]")),
        f"{BROKEN}config can't be read.",
    ),
    "alibi": (sized(positions="alibi"), f"{OPTION}positions alibi."),
    "no norm": (sized(norm="none"), f"{OPTION}norm none."),
    "swiglu": (sized(activation="swiglu"), f"{OPTION}activation swiglu."),
    "dropout": (sized(dropout=0.1), f"{OPTION}dropout 0.1."),
    "pairs": (sized(pair_embedding=True), f"{OPTION}pair_embedding true."),
    "no residual": (sized(residual=False), f"{OPTION}residual false."),
    "no MLP": (sized(mlp=False), f"{OPTION}mlp false."),
    "mlp_ratio": (sized(mlp_ratio=3), f"{OPTION}mlp_ratio 3."),
    "tied": (sized(tie_weights=True), f"{OPTION}tie_weights true."),
    "biases": (sized(qkv_bias=True), f"{OPTION}qkv_bias true."),
    "groups": (sized(num_kv_heads=2), f"{OPTION}num_kv_heads 2."),
    "qk_norm": (sized(qk_norm=True), f"{OPTION}qk_norm true."),
    "skip": (sized(embedding_skip=True), f"{OPTION}embedding_skip true."),
    "zero_init": (sized(zero_init=True), f"{OPTION}zero_init true."),
    "rotary_base": (sized(rotary_base=5.5), f"{OPTION}rotary_base 5.5."),
    "norm_eps": (sized(norm_eps=0.1), f"{OPTION}norm_eps 0.1."),
    "mlp_hidden": (sized(mlp_hidden=7), f"{OPTION}mlp_hidden 7."),
    "no biases": (sized(bias=False), f"{OPTION}bias false."),
    "gate": (sized(attention_gate=True), f"{OPTION}attention_gate true."),
    "global": (sized(global_interval=2), f"{OPTION}global_interval 2."),
    "unknown": (sized(window=3), f"{OPTION}window 3."),
    "inherited": (sized(toString=3), f"{OPTION}toString 3."),
    "a prototype": (sized(__proto__=3), f"{OPTION}__proto__ 3."),
    "nested": (sized(norm=[["layer"]]), f"{OPTION}norm something else."),
    "wide": (
        sized(d_model=132),
        "The model's width is 132; this page takes whole numbers from 1 to 128.",
    ),
    "heads": (sized(num_heads=25), "number of heads is 25; this page .* from 1 to 16"),
    "uneven": (sized(num_heads=5), "5 heads can't share its width of 24 equally."),
    "odd": (sized(positions="rotary", num_heads=8), "heads are 3 wide; with rotary "),
    "layers": (sized(num_layers=5), "number of layers is 5; this page .* to 4"),
    "billions": (sized(num_layers=1e9), "layers is 1000000000; this page .* to 4"),
    "context": (sized(context_length=257), "context length is 257; .* from 1 to 256"),
    "characters": (sized(vocab_size=201), "of characters is 201; .* from 1 to 200"),
    "no size": (
        lambda: changed(lambda w, m, c: c.pop("d_model")),
        "The model's width is missing;",
    ),
    "half a size": (sized(num_layers=1.5), "layers is 1.5; this page takes whole"),
    "a size in words": (sized(num_layers="2"), "layers is 2; this page takes whole"),
    "no alphabet": (
        lambda: changed(lambda w, m, c: m.pop("alphabet")),
        "The model's alphabet must be a text of whole characters.",
    ),
    "half a character": (
        lambda: with_header(lambda h: h["__metadata__"].update(alphabet="\ud83d")),
        "The model's alphabet must be a text of whole characters.",
    ),
    "short alphabet": (
        lambda: changed(lambda w, m, c: m.update(alphabet="🐚🐙")),
        "The model's alphabet should have 11 characters, and it has 2.",
    ),
    "a character twice": (
        lambda: changed(lambda w, m, c: m.update(alphabet="\n🐚bcdefgh🐚a")),
        'The model\'s alphabet has a character twice: "🐚".',
    ),
    "a tensor missing": (
        lambda: changed(lambda w, m, c: w.pop("head.weight")),
        "The file lacks the tensor head.weight.",
    ),
    "a tensor too many": (
        lambda: changed(lambda w, m, c: w.update(more=torch.ones(1))),
        "The file has a tensor too many, more: its config has none.",
    ),
    "shape": (
        lambda: changed(lambda w, m, c: w.update({"head.weight": torch.ones(24, 11)})),
        f"{HEAD}have the shape 11 × 24, not 24 × 11.",
    ),
    "odd shape": (
        lambda: with_header(lambda h: h["head.weight"].update(shape="11,24")),
        f"{HEAD}have the shape 11 × 24, not 11,24.",
    ),
    "dtype": (
        lambda: changed(
            lambda w, m, c: w.update({"head.weight": torch.ones(2).half()})
        ),
        f"{HEAD}hold F32 numbers, not F16.",
    ),
    "overlapping": (
        lambda: with_header(lambda h: h["head.weight"].update(data_offsets=[0, 1056])),
        IN_ROW,
    ),
    "a tensor in another": (
        lambda: with_header(lambda h: widen(h["head.weight"]["data_offsets"])),
        IN_ROW,
    ),
    "far away": (
        lambda: with_header(lambda h: h["head.weight"].update(data_offsets=[1e9, 2e9])),
        IN_ROW,
    ),
    "no offsets": (
        lambda: with_header(lambda h: h["head.weight"].pop("data_offsets")),
        IN_ROW,
    ),
    "NaN": (
        lambda: changed(
            lambda w, m, c: w.update({"head.weight": torch.full((11, 24), torch.nan)})
        ),
        "weights must be finite, but head.weight has a number that is NaN.",
    ),
    "infinity": (
        lambda: changed(
            lambda w, m, c: w.update({"head.weight": torch.full((11, 24), -torch.inf)})
        ),
        "weights must be finite, but head.weight has a number that is -Infinity.",
    ),
}


@pytest.mark.one_in(5)
@pytest.mark.parametrize("name", DEFECTS)
def test_each_defect_of_a_file_is_named(page, name):
    make, message = DEFECTS[name]
    got = page.evaluate(
        "(text) => complaint(() => opened(fromText(text)))", as_text(make())
    )
    assert got is not None, "the file was opened"
    assert all(part in got for part in message.split(" .* ")), got


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("numbers['head.weight'][3] = NaN", "weights must be finite, but head.weight"),
        ("numbers['head.weight'][3] = 1 / 0", "head.weight has a number that is Inf"),
        ("alphabet.pop()", "should have 11 characters, and it has 10."),
        ("alphabet[0] = alphabet[1]", "has a character twice"),
    ],
)
def test_what_python_would_not_open_is_not_written(page, change, message):
    text = as_text(changed(lambda w, m, c: None))
    script = f"""(text) => {{
        const {{ config, alphabet: letters, named: numbers }} = opened(fromText(text));
        const alphabet = [...letters];
        {change};
        return complaint(() => written(config, alphabet, shapesOf(config), numbers));
    }}"""
    assert message in page.evaluate(script, text)
