"""The worker that runs a real model in the page, on a tiny one: it computes what
PyTorch computes, and answers each request."""

import base64

import numpy as np
import pytest
import torch

from helpers.attention import causal_mask, scaled_dot_product_attention
from helpers.models.generation import generate
from helpers.models.head_reading import HeadReader
from helpers.models.patching import Part, replaced
from helpers.models.switches import attending_with
from helpers.views.view import bundle_of
from tests.browser.working import BYTES_OF, NO_VECTORS, Worked, in_base64
from tests.samples import tiny_llama
from tests.samples.tiny_llama import tiny

TEXT = "the cat sat on 100 cats, and the cat is the"
COMPUTES = pytest.mark.parametrize(
    ("compute", "before"), [("WebAssembly", ""), ("JavaScript", NO_VECTORS)]
)


@pytest.fixture(scope="module")
def context(chromium):
    context = chromium.new_context()
    yield context
    context.close()


@pytest.fixture(scope="module")
def page(context):
    """A page that runs workers and modules."""
    return context.new_page()


@pytest.fixture(scope="module")
def anew(context):
    """A function that reads a text with a worker that has read nothing before."""
    page = context.new_page()

    def read(text, **options):
        worked = Worked(page)
        worked.open(tiny()[0])
        return worked.read(text, **options)

    return read


@pytest.fixture
def worker(page):
    """A worker that has opened the tiny model."""
    worked = Worked(page)
    answer = worked.open(tiny()[0])[-1]
    assert answer["kind"] == "opened", answer
    return worked


def close(found, expected, atol=1e-4):
    """Whether both name the same tokens with the same probabilities."""
    assert [text for text, _ in found] == [text for text, _ in expected]
    got, right = ([share for _, share in one] for one in (found, expected))
    assert got == pytest.approx(right, abs=atol)


def same_reading(found, other):
    """Whether two readings say the same, rounding apart."""
    for name in ("text", "tokens", "same", "ids"):
        assert found[name] == other[name], name
    weights = (np.array(one["weights"], dtype=int) for one in (found, other))
    assert abs(np.subtract(*weights)).max() <= 1
    close(found["next"], other["next"])


# --- it computes what PyTorch computes ------------------------------------------------


@COMPUTES
@pytest.mark.parametrize(
    ("matrices", "embedding", "tied"),
    [("Q4_1", "Q8_0", True), ("Q8_0", "Q4_1", False), ("F32", "F32", True)],
)
def test_a_reading_is_that_of_a_head_reader(
    page, compute, before, matrices, embedding, tied
):
    content, model, tokenizer = tiny(matrices=matrices, embedding=embedding, tied=tied)
    worker = Worked(page, before)
    assert worker.open(content)[-1]["model"] == {
        **{"name": "A tiny Llama", "layers": 3, "heads": 4, "keyValueHeads": 2},
        **{"width": 64, "vocabulary": len(tiny_llama.tokens())},
        **{"contextLength": 256, "bytes": len(content), "compute": compute},
    }
    found = worker.read(TEXT)
    expected = HeadReader(model, tokenizer, most_tokens=256).read(TEXT)
    for name in ("text", "tokens", "same", "layers", "heads", "causal"):
        assert found[name] == expected[name], name
    assert found["ids"] == tokenizer.encode(TEXT)
    assert len(found["ids"]) > 20  # more than are read at once
    weights = np.frombuffer(base64.b64decode(expected["weights"]), np.uint8)
    assert abs(np.array(found["weights"]) - weights.astype(int)).max() <= 1
    close(found["next"][:5], expected["next"])
    assert len(found["next"]) == 10


LOGITS = """
const file = new Blob([bytesOf(input.content)]);
const { session } = await openModel(file, undefined, () => {});
return input.texts.flatMap((text) => {
  session.begin(text, false, []);
  const { ids } = session;
  return ids.map((_, last) => {
    session.ids = ids.slice(0, last + 1);
    for (const _ of session.catchUp());
    return Array.from(session.logits);
  });
});
"""


@COMPUTES
def test_logits_equal_pytorchs_at_each_place(page, compute, before):
    content, model, tokenizer = tiny()
    texts = [TEXT, "an onion", "3.14159 is not 22/7 🧪"]
    found = torch.tensor(
        page.evaluate(
            f"async (input) => {{ {before} {BYTES_OF} {bundle_of('model_file')}"
            f" {LOGITS} }}",
            {"content": in_base64(content), "texts": texts},
        )
    )
    with torch.no_grad():
        rows = [model(torch.tensor([tokenizer.encode(text)]))[0] for text in texts]
    expected = torch.cat(rows)
    assert len(found) > 50
    assert (found - expected).abs().max() < 1e-3
    assert torch.equal(found.argmax(-1), expected.argmax(-1))


def without_first(queries, keys, values, **_):
    """Attention in which no later position sees the first."""
    T, groups = queries.shape[-2], queries.shape[-3] // keys.shape[-3]
    mask = causal_mask(T)
    mask[1:, 0] = False
    keys, values = (one.repeat_interleave(groups, dim=-3) for one in (keys, values))
    return scaled_dot_product_attention(queries, keys, values, mask=mask)[0]


def next_of(model, tokenizer, ids, count=10):
    """PyTorch's most probable next tokens."""
    with torch.no_grad():
        best = model(torch.tensor([ids]))[0, -1].softmax(-1).topk(count)
    texts = tokenizer.pieces(best.indices.tolist())
    return list(zip(texts, best.values.tolist(), strict=True))


OFF = {
    "a head": (["1.3"], {Part("context", 1, 3): 0.0}),
    "two heads": (
        ["0.0", "2.1"],
        {Part("context", 0, 0): 0.0, Part("context", 2, 1): 0.0},
    ),
    "an MLP": (["mlp.1"], {Part("mlp", 1): 0.0}),
    "both": (["mlp.2", "0.2"], {Part("mlp", 2): 0.0, Part("context", 0, 2): 0.0}),
}


@pytest.mark.parametrize("name", OFF)
def test_what_is_off_is_off_as_in_pytorch(worker, name):
    _, model, tokenizer = tiny()
    off, parts = OFF[name]
    before = worker.read(TEXT)
    after = worker.ask("switch", off=off)
    assert (after["kind"], after["reading"]["off"]) == ("reading", off)
    after = after["reading"]
    with replaced(model, parts):
        close(after["next"], next_of(model, tokenizer, before["ids"]))
    assert before["off"] == []
    assert after["next"] != before["next"]
    back = worker.ask("switch", off=[])
    close(back["reading"]["next"], before["next"])


def test_no_later_token_sees_the_first_where_the_sink_is_off(worker):
    _, model, tokenizer = tiny()
    found = worker.read(TEXT, off=["sink"])
    assert found["off"] == ["sink"]
    with attending_with(model, without_first):
        close(found["next"], next_of(model, tokenizer, found["ids"]))
    first = [row * (row + 1) // 2 for row in range(len(found["ids"]))]
    weights = np.array(found["weights"]).reshape(12, -1)[:, first]
    assert (weights[:, 0] == 255).all()
    assert (weights[:, 1:] == 0).all()


# --- what it keeps --------------------------------------------------------------------


def test_what_is_kept_gives_the_same_as_reading_anew(worker, anew):
    for text in (TEXT, TEXT[:20], TEXT[:20] + "99 cats", TEXT, TEXT):
        same_reading(worker.read(text), anew(text))
    for text in (TEXT[:30], TEXT):
        found = worker.read(text, off=["1.1"])
        same_reading(found, anew(text, off=["1.1"]))
    other = worker.read(TEXT, off=["0.0"])
    same_reading(other, anew(TEXT, off=["0.0"]))
    same_reading(worker.read(TEXT), anew(TEXT))


HALF = """
const file = new Blob([bytesOf(input.content)]);
const { session } = await openModel(file, undefined, () => {});
const read = (text) => { session.begin(text, false, []); return session.catchUp(); };
for (const _ of read("the cat"));
const going = read(input.text);
const { value: done } = going.next(); // and nobody goes on
session.ids = session.ids.slice(0, done);
for (const _ of session.catchUp());
return [session.ids, Array.from(session.logits)];
"""


def test_a_text_that_was_half_read_is_read_to_any_place(page):
    content, model, _ = tiny()
    ids, found = page.evaluate(
        f"async (input) => {{ {BYTES_OF} {bundle_of('model_file')} {HALF} }}",
        {"content": in_base64(content), "text": TEXT},
    )
    with torch.no_grad():
        expected = model(torch.tensor([ids]))[0, -1]
    torch.testing.assert_close(torch.tensor(found), expected, rtol=0, atol=1e-4)


def test_what_was_written_goes_back_token_by_token(worker):
    worker.read("the cat")
    *_, reading, ended = worker.write(9, temperature=1, seed=4)
    assert ended["why"] == "most"
    written = reading["reading"]
    ids = written["ids"]
    assert len(ids) == len(tiny()[2].encode("the cat")) + 9
    back = worker.ask("back")["reading"]
    assert back["ids"] == ids[:-1]
    close(back["next"], next_of(*tiny()[1:], ids[:-1]))
    worker.ask("switch", off=["2.2"])
    again = worker.ask("back")["reading"]
    assert again["ids"] == ids[:-2]
    with replaced(tiny()[1], {Part("context", 2, 2): 0.0}):
        close(again["next"], next_of(*tiny()[1:], ids[:-2]))


def test_a_chat_goes_back_to_what_the_reader_has_said(worker):
    worker.read("the cat", chat=True)
    *_, reading, _ = worker.write(4, temperature=1, seed=2)
    assert reading["reading"]["text"].startswith("the cat")
    left = worker.ask("back")["reading"]
    assert left["ids"] == reading["reading"]["ids"][:-1]
    assert left["text"].startswith("the cat")


def test_a_chats_question_stays_whole(worker):
    before = worker.read("the cat", chat=True)
    message = worker.ask("back")["message"]
    assert message.startswith("The model has written nothing yet; your question in a")
    assert worker.ask("switch", off=[])["reading"]["next"] == before["next"]


def test_what_comes_with_everything_on_follows_what_was_written_without_a_part(worker):
    worker.read("the cat")
    number = worker.send("switch", off=["2.2"])
    *_, whole = worker.answers(number, "whole")
    close(whole["next"], next_of(*tiny()[1:], tiny()[2].encode("the cat")))
    number = worker.send("write", temperature=1, topP=1, seed=4, most=5)
    *_, reading, ended, whole = worker.answers(number, "whole")
    assert (reading["kind"], ended["kind"]) == ("reading", "ended")
    close(whole["next"], next_of(*tiny()[1:], reading["reading"]["ids"]))


def test_going_back_takes_the_readers_own_tokens_too(worker):
    worker.read("the cat")
    left = worker.ask("back")["reading"]
    assert (left["text"], left["tokens"]) == ("the", ["t", "he"])
    assert worker.ask("back")["reading"]["text"] == "t"
    message = worker.ask("back")["message"]
    assert message == "One token is left; the model needs at least one."


# --- it writes ------------------------------------------------------------------------


def test_at_temperature_0_it_writes_what_pytorch_writes(worker):
    _, model, tokenizer = tiny()
    ids = worker.read(TEXT)["ids"]
    *tokens, reading, ended = worker.write(12)
    expected = generate(
        model,
        torch.tensor([ids]),
        12,
        temperature=0,
        stop_ids=tokenizer.special_tokens.values(),
    )[0, len(ids) :].tolist()
    assert [one["id"] for one in tokens] == expected
    assert [one["kind"] for one in (reading, ended)] == ["reading", "ended"]
    assert reading["reading"]["ids"] == ids + expected
    assert [one["token"] for one in tokens] == tokenizer.pieces(expected)
    assert reading["reading"]["text"] == TEXT + tokens[-1]["text"]
    close(tokens[-1]["next"], reading["reading"]["next"])
    assert all(one["milliseconds"] > 0 for one in tokens)


def test_a_seed_leads_along_one_path_and_top_p_to_the_most_probable(worker):
    def written(**how):
        worker.read(TEXT)
        return [one.get("id") for one in worker.write(12, **how)][:-2]

    one = written(temperature=1.5, seed=3)
    assert written(temperature=1.5, seed=3) == one
    assert written(temperature=1.5, seed=4) != one
    greedy = written()
    assert written(temperature=1.5, top_p=1e-6, seed=3) == greedy
    assert written(temperature=1e-3, seed=3) == greedy


def test_it_ends_at_a_special_token_and_doesnt_keep_it(worker):
    _, _, tokenizer = tiny()
    special = set(tokenizer.special_tokens.values())
    for seed in range(1, 30):
        ids = worker.read("a")["ids"]
        *tokens, reading, ended = worker.write(60, temperature=3, seed=seed)
        assert reading["reading"]["ids"] == ids + [one["id"] for one in tokens]
        assert not special & set(reading["reading"]["ids"])
        if ended["why"] == "end":
            return
    pytest.fail("30 texts, and none has ended")


def test_it_ends_where_the_context_is_full(page):
    worker = Worked(page)
    worker.open(tiny(settings=(("context_length", 32),))[0])
    worker.read("the cat")
    *_, reading, ended = worker.write(50, temperature=1, seed=2)
    assert (ended["why"], len(reading["reading"]["ids"])) == ("full", 32)


THEN = """([number, message]) => {
  const how = { temperature: 1, topP: 1, seed: 5, most: 240 };
  worker.postMessage({ kind: "write", number, ...how });
  return answers(number, ["token"]).then(() => worker.postMessage(message));
}"""


def test_writing_is_stopped_and_is_by_whatever_comes_next(worker):
    def written_until(number, kind, **message):
        message = {"kind": kind, "number": number + 1} | message
        worker.page.evaluate(THEN, [number, message])
        *tokens, reading, ended = worker.answers(number, "ended")
        assert ended["why"] == "stopped"
        assert 0 < len(tokens) < 230
        return reading["reading"]["ids"]

    worker.read("the cat")
    before = written_until(10, "stop")
    ids = written_until(20, "back")
    assert ids[: len(before)] == before
    assert worker.answers(21)[-1]["reading"]["ids"] == ids[:-1]
    written_until(30, "read", text="a cat", chat=False, off=[])
    assert worker.answers(31)[-1]["reading"]["text"] == "a cat"
    written_until(40, "switch", off=["0.0"])
    assert worker.answers(41)[-1]["kind"] == "reading"
    written_until(50, "write", temperature=0, topP=1, seed=1, most=2)
    assert worker.answers(51, "ended")[-1]["why"] in ("most", "end")


def test_of_several_texts_only_the_last_is_read(worker):
    worker.page.evaluate(
        """(texts) => texts.forEach((text, i) => worker.postMessage(
            { kind: "read", number: 7 + i, text, chat: false, off: [] }))""",
        ["the cat is an onion" * 4, "the cat is a cat", "the cat"],
    )
    assert worker.answers(9)[-1]["reading"]["text"] == "the cat"
    heard = worker.page.evaluate("heard.map(({ kind, number }) => [kind, number])")
    assert [one for one in heard if one[0] in ("reading", "failed")] == [["reading", 9]]


def test_reading_is_stopped_and_goes_on_where_it_was(worker, anew):
    text = "on a cat " * 12
    worker.page.evaluate(
        """async (text) => {
          worker.postMessage({ kind: "read", number: 7, text, chat: false, off: [] });
          worker.postMessage({ kind: "stop", number: 8 }); // heard behind 16 tokens
        }""",
        text,
    )
    *_, last = worker.answers(7)
    assert (last["kind"], last["why"]) == ("ended", "stopped")
    same_reading(worker.read(text), anew(text))


def test_where_reading_is_stopped_the_text_before_is_there_again(worker, anew):
    worker.read("the cat", off=["1.1"])
    worker.page.evaluate(
        """async () => {
          const text = "on a cat ".repeat(12);
          worker.postMessage({ kind: "read", number: 7, text, chat: true, off: [] });
          worker.postMessage({ kind: "stop", number: 8 });
        }"""
    )
    worker.answers(7)
    after = worker.ask("write", temperature=0, topP=1, seed=1, most=0)
    same_reading(after["reading"], anew("the cat", off=["1.1"]))
    assert after["reading"]["off"] == ["1.1"]
    assert worker.ask("back")["reading"]["text"] == "the"


def test_a_long_text_says_how_far_it_is(worker):
    number = worker.send("read", text="on a cat " * 12, chat=False, off=[])
    *steps, reading = worker.answers(number)
    total = len(reading["reading"]["ids"])
    assert [one["kind"] for one in steps] == ["tokens"] * ((total - 1) // 16)
    assert [one["done"] for one in steps] == list(range(16, total, 16))
    assert {one["total"] for one in steps} == {total}


def test_a_chat_is_written_as_helpers_write_it(worker):
    _, _, tokenizer = tiny()
    found = worker.read("the <|im_end|> cat", chat=True)
    assert found["ids"] == tokenizer.encode_chat([("user", "the <|im_end|> cat")])
    assert found["text"] == "the <|im_end|> cat"
    assert found["tokens"][0] == "<|im_start|>"


# --- texts that it can't read ---------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "off", "message"),
    [
        ("", [], "The text is empty: the model needs at least one character."),
        ("a" * 300, [], "has 300 tokens. Take a part of it: this page reads 256 at"),
        ("a" * 9000, [], "The text has 9,000 characters. Take a part of it: this page"),
        ("a\ud83e", [], "The text holds half a character."),
        ("a", ["3.0"], "The model has no part “3.0” that could be switched off."),
        ("a", ["0.4"], "no part “0.4”"),
        ("a", ["mlp.3"], "no part “mlp.3”"),
        ("a", ["all"], "no part “all”"),
    ],
)
def test_a_text_that_cant_be_read_is_named_and_the_last_one_stays(
    worker, text, off, message
):
    before = worker.read("the cat")
    answer = worker.page.evaluate(
        """async ([text, off]) => {
          worker.postMessage({ kind: "read", number: 99, text, chat: false, off });
          return (await answers(99, ["failed", "reading"])).at(-1);
        }""",
        [text, off],
    )
    assert answer["kind"] == "failed"
    assert message in answer["message"]
    assert worker.ask("back")["reading"]["ids"] == before["ids"][:-1]


def test_bytes_that_have_no_token_vanish(worker):
    assert worker.read("aÀb")["tokens"] == ["a", "\ufffd", "b"]  # one byte of two
    lacking = tiny()[2].encode("aÀb")
    assert worker.read("aÀb")["ids"] == lacking


def test_nothing_can_be_asked_before_a_model_is_open_or_a_text_read(page):
    worker = Worked(page)
    assert worker.read("a") == "No model has been opened yet."
    worker.open(tiny()[0])
    for kind in ("back", "switch", "write"):
        message = worker.ask(kind, off=[], temperature=1, topP=1, seed=1, most=1)
        assert message["message"] == "Nothing has been read yet.", kind
