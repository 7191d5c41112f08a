"""helpers.text.encoding: a trained model is fed as it was trained, by every way."""

import re

import pytest
import torch
import torch.nn.functional as F

from helpers.models.generation import generate_text
from helpers.models.paged_cache import PageStore
from helpers.recorded import story_model
from helpers.text import corpus, probes
from helpers.text.batches import NOTHING, Documents, Windows
from helpers.text.encoding import encode_for_model
from helpers.text.tokenizer import CharTokenizer
from helpers.training.loop import evaluate
from tests import ROOT
from tools import notebooks

TOKENIZER = CharTokenizer("\nabcdef")


def test_documents_stand_behind_the_start_character_and_windows_behind_nothing():
    ids = encode_for_model(["bad", "a"], TOKENIZER)
    assert ids.tolist() == [[0, 2, 1, 4], [0, 1, 0, 0]]
    assert ids.dtype == torch.int64
    assert encode_for_model("", TOKENIZER).tolist() == [[0]]
    assert encode_for_model("bad", TOKENIZER, trained_on="windows").tolist() == [
        [2, 1, 4]
    ]


def test_ids_are_those_of_training():
    texts = ["fade", "bad"]
    inputs, targets = next(Documents.from_texts(texts, TOKENIZER, 8).all(2))
    ids = encode_for_model([text[:-1] for text in texts], TOKENIZER)
    real = targets != NOTHING
    assert torch.equal(ids[real], inputs[real])
    inputs, _ = next(Windows(TOKENIZER.encode("fade\nbad"), 7).all(1))
    ids = encode_for_model("fade\nba", TOKENIZER, trained_on="windows")
    assert torch.equal(ids, inputs)


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        ([], {}, "texts must hold at least one text, got none"),
        (["a", 3], {}, r"texts\[1\] must be a string, got int"),
        ("\nbad", {}, r"texts\[0\] must not begin with the start character .*added"),
        (
            "bad",
            {"trained_on": "stories"},
            "trained_on .*documents, windows.*'stories'",
        ),
        ("", {"trained_on": "windows"}, r"texts\[0\] .*at least one character, got ''"),
        ("axe", {}, "'x' at position 1"),
    ],
)
def test_bad_texts_are_named(given, options, message):
    with pytest.raises(ValueError, match=message):
        encode_for_model(given, TOKENIZER, **options)


def test_documents_need_a_start_character():
    with pytest.raises(ValueError, match="must have a start character, got None"):
        encode_for_model("bad", CharTokenizer("abcdef"))


# --- the story model, on its own held-out stories -------------------------------------


@pytest.fixture(scope="module")
def told():
    """The model, its tokenizer, the stories, and the loss of a story's characters."""
    model, tokenizer = story_model.load_story_model()
    stories = corpus.load("little-world").held_out
    return model, tokenizer, stories, story_model.record()["full"]["loss"]


def by_batches(model, tokenizer, stories):
    documents = Documents.from_texts(stories, tokenizer, model.context_length)
    return evaluate(model, documents)


def by_probes(model, tokenizer, stories):
    rows = probes.log_probabilities(model, tokenizer, stories)
    targets = [torch.tensor(tokenizer.encode(story)) for story in stories]
    return F.nll_loss(torch.cat(rows), torch.cat(targets)).item()


def by_encoding(model, tokenizer, stories):
    ids = encode_for_model([story[:-1] for story in stories], tokenizer)
    return mean_loss(tokenizer, stories, lambda i: model(ids[i : i + 1])[0])


def by_cache(new_cache):
    def loss(model, tokenizer, stories):
        def logits(i):
            cache = new_cache(model)
            row = encode_for_model(stories[i][:-1], tokenizer)
            parts = row.split(9, dim=1)
            return torch.cat([model(part, cache=cache)[0] for part in parts])

        return mean_loss(tokenizer, stories, logits)

    return loss


def mean_loss(tokenizer, stories, logits):
    nats = [
        F.cross_entropy(
            logits(i)[: len(story)],
            torch.tensor(tokenizer.encode(story)),
            reduction="sum",
        )
        for i, story in enumerate(stories)
    ]
    return sum(nats).item() / sum(map(len, stories))


@pytest.mark.parametrize(
    ("way", "stories"),
    [
        (by_batches, None),
        (by_probes, 60),
        (by_encoding, 60),
        (by_cache(lambda model: model.new_cache()), 20),
        (by_cache(lambda model: PageStore(model, 40, 8).new_cache()), 20),
    ],
    ids=["batches", "probes", "encoding", "cache", "pages"],
)
def test_the_story_model_loses_what_is_recorded(told, way, stories):
    model, tokenizer, held_out, recorded = told
    some = held_out[:stories]
    with torch.no_grad():
        found = way(model, tokenizer, some)
        expected = recorded if stories is None else by_batches(model, tokenizer, some)
    assert found == pytest.approx(expected, abs=2e-4)


def test_without_its_start_the_story_model_answers_another_question(told):
    model, tokenizer, held_out, recorded = told
    ids = encode_for_model(
        [story[:50] for story in held_out], tokenizer, trained_on="windows"
    )
    with torch.no_grad():
        loss = F.cross_entropy(model(ids[:, :-1]).mT, ids[:, 1:]).item()
    assert loss > 2 * recorded


def test_a_prompt_is_written_on_from_behind_the_start_character(told):
    model, tokenizer, _, _ = told
    prompt = story_model.UNFINISHED["a yellow kite"]
    text = generate_text(model, tokenizer, prompt, 11, temperature=0)
    assert text == prompt + "yellow kite"


# A batch of ids made by hand: whoever reads it may have been trained otherwise.
BY_HAND = re.compile(r"torch\.tensor\(\s*\[\s*[\w.\[\]]*encode\(")


def test_no_text_reaches_a_trained_model_by_hand():
    sources = {
        path: path.read_text(encoding="utf-8")
        for folder in ("helpers", "experiments")
        for path in sorted((ROOT / folder).rglob("*.py"))
    }
    for path in sorted((ROOT / "chapters").glob("*.ipynb")):
        cells = [c.source for c in notebooks.read(path).cells if c.cell_type == "code"]
        if any("load_story_model" in source for source in cells):
            sources[path] = "\n".join(cells)
    assert len(sources) > 150
    assert [path.name for path, text in sources.items() if BY_HAND.search(text)] == []
    assert BY_HAND.search(
        "ids = torch.tensor([tokenizer.encode(s[:50]) for s in some])"
    )
