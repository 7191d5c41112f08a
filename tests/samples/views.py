"""One view of each kind, with texts that would break out of careless HTML."""

import torch

from helpers import views
from helpers.attention import merge_heads, split_heads
from helpers.models.eight_bits import to_eight_bits
from helpers.models.head_reading import HeadReader
from helpers.models.language_model import TransformerLM
from helpers.models.pretrained.catalogue import Card, File
from helpers.models.transformer_block import TransformerConfig
from helpers.text.little_world import WORDS, whole_world
from tests.samples import models

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</script><!--",
    "\u202eright\u2066",
    "👩‍👧",
    "a\0b",
    "' onfocus=alert(1) '",
]


def tokens(count):
    """That many names, the hostile ones first."""
    return (HOSTILE + [f"word {i}" for i in range(count)])[:count]


def query_explorer():
    generator = torch.Generator().manual_seed(0)
    keys = torch.rand(7, 2, generator=generator) * 3 - 1.5
    return views.query_explorer(keys, tokens(7), torch.tensor([0.5, 0.5]))


def dot_product():
    vectors = torch.tensor([[1.0, 0.5], [-0.5, 1.5]])
    return views.dot_product(*vectors, names=HOSTILE[:2], columns=HOSTILE[3:5])


def memory_state():
    generator = torch.Generator().manual_seed(8)
    keys = torch.randn(7, 3, generator=generator)
    keys = keys / keys.norm(dim=-1, keepdim=True)
    values = torch.randn(7, 2, generator=generator)
    return views.memory_state(keys, values, tokens(7), writes=[0, 3])


def tile_walk():
    generator = torch.Generator().manual_seed(4)
    scores, values = torch.randn(
        len(HOSTILE), len(HOSTILE) + 1, generator=generator
    ).split([len(HOSTILE), 1], dim=1)
    return views.tile_walk(scores, values[:, 0], names=HOSTILE)


def rotary_clocks():
    generator = torch.Generator().manual_seed(5)
    return views.rotary_clocks(
        *torch.randn(2, 8, generator=generator), names=HOSTILE[:2]
    )


def orthogonaliser():
    return views.orthogonaliser(ratio=20)


def dropout_sampler():
    generator = torch.Generator().manual_seed(1)
    scores = torch.randn(7, 7, generator=generator)
    future = torch.ones(7, 7).triu(1).bool()
    weights = scores.masked_fill(future, -torch.inf).softmax(-1)
    return views.dropout_sampler(weights, tokens(7))


def temperature_and_width():
    generator = torch.Generator().manual_seed(2)
    queries = torch.randn(50, 5, 64, generator=generator)
    keys = torch.randn(50, 7, 64, generator=generator)
    return views.temperature_and_width(queries, keys)


def mask_painter():
    generator = torch.Generator().manual_seed(0)
    inputs = torch.rand(7, 3, generator=generator)
    matrices = torch.randn(3, 3, 2, generator=generator).unbind()
    return views.mask_painter(
        inputs,
        *matrices,
        words=tokens(7),
        replacement=torch.tensor([1.0, -1.0, 1.0]),
        replacement_word=HOSTILE[0],
    )


def attention_view():
    generator = torch.Generator().manual_seed(0)
    weights = torch.randn(2, 3, 7, 9, generator=generator).softmax(dim=-1)
    return views.attention_view(tokens(7), weights, keys=tokens(9))


def soft_lookup():
    generator = torch.Generator().manual_seed(0)
    inputs = torch.rand(7, 3, generator=generator)
    matrices = torch.rand(3, 3, 2, generator=generator).unbind()
    return views.soft_lookup(inputs, *matrices, tokens(7), word=1, features=tokens(3))


def sampler():
    generator = torch.Generator().manual_seed(0)
    return views.sampler(torch.randn(9, generator=generator), tokens(9))


def head_splitter():
    generator = torch.Generator().manual_seed(0)
    parts = torch.randn(3, 1, 7, 6, generator=generator).unbind()
    return views.head_splitter(*parts, 3, tokens=tokens(7))


def explore():
    def frame(word, width):
        curve = views.Line([1, 2, 4], {HOSTILE[1]: [width, 0.5, -1.0]}, word, word)
        table = views.Table(word, [[word, 0.5]], columns=HOSTILE[:2], rows=[word])
        return [word, width / 3, dict.fromkeys(tokens(9), width), curve, table]

    text = views.Text(HOSTILE[0], values=HOSTILE[1:])
    return views.explore(frame, title="Words", word=text, width=[1, 2.5])


def diagram():
    """Each kind of operation, of hostile places."""
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(7, 4, generator=generator)
    queries, keys, values = torch.randn(3, 7, 4, generator=generator).unbind()
    queries, keys, values = (split_heads(one, 2) for one in (queries, keys, values))
    future = torch.ones(7, 7).triu(1).bool()
    scores = (queries @ keys.mT / 2**0.5).masked_fill(future, -torch.inf)
    weights = scores.softmax(-1)
    context = merge_heads(weights @ values)
    return views.diagram(
        {
            "queries": (queries, "H, T, D"),
            "keys": (keys, "H, S, D"),
            "values": (values, "H, S, D"),
            "scores": (scores, "H, T, S", "mask(queries @ keys.T / √D)", HOSTILE[0]),
            "weights": (weights, "H, T, S", "softmax(scores)"),
            "context": (context, "T, C", "merge(weights @ values)"),
            "x": (x, "T, C"),
            "output": (x + context, "T, C", "x + context"),
        },
        names={"T": tokens(7), "S": tokens(7), "C": tokens(4)},
        new=["weights"],
        title=HOSTILE[1],
    )


def quiz():
    return views.quiz(
        f"What is `{HOSTILE[0]}`, {HOSTILE[3]}, `{HOSTILE[6]}`?",
        right=(HOSTILE[1], f"{HOSTILE[5]} is `1` text {'long' * 20}."),
        wrong=[(f"`{text}` {text}", f"{text}: no, `{text}`.") for text in HOSTILE[2:6]],
    )


def tiny_model():
    """A model of hostile characters, as the views that run one take it first."""
    alphabet = "".join(sorted({"\n", *"".join(HOSTILE)}))
    sizes = {"context_length": 24, "d_model": 8, "num_heads": 2, "num_layers": 2}
    torch.manual_seed(0)
    model = TransformerLM(TransformerConfig(len(alphabet), **sizes))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(4)
    config = {"contextLength": 24, "width": 8, "heads": 2, "layers": 2}
    return config, to_eight_bits(model.state_dict()), alphabet


def model_in_the_page():
    config, weights, alphabet = tiny_model()
    return views.model_in_the_page(
        config,
        weights,
        alphabet,
        prompts={text: text[:12] for text in HOSTILE},
        questions=[('" onfocus', {0: "quote", 3: "agreement", 5: "pronoun"})],
        expected=torch.full((len(alphabet),), 1 / len(alphabet)),
    )


def unfinished_story():
    config, weights, alphabet = tiny_model()
    return views.unfinished_story(
        config,
        weights,
        alphabet,
        stories={text: text[:12] for text in HOSTILE},
        head=(0, 1),
        looks=torch.full((13,), 1 / 13),
        expected=torch.full((len(alphabet),), 1 / len(alphabet)),
    )


def learning_in_the_page():
    return views.learning_in_the_page(
        WORDS,
        whole_world().alphabet,
        {HOSTILE[0]: 0.3, HOSTILE[1]: 1.5},
        longest_story=whole_world().longest_story,
    )


class HostileTokenizer:
    """Each character of a text is a token with a hostile name."""

    def encode(self, text):
        return [ord(character) % len(HOSTILE) for character in text]

    def decode(self, ids):
        return "".join(HOSTILE[i % len(HOSTILE)] for i in ids)

    def pieces(self, ids):
        return [self.decode([i]) for i in ids]


def hostile_readings():
    reader = HeadReader(models.model(), HostileTokenizer())
    texts = (HOSTILE[4], HOSTILE[3])  # of 3 and of 7 tokens
    return [reader.read_without_each(text) for text in texts]


def all_heads():
    return views.all_heads(
        hostile_readings(), head=(1, 2), query=2, key=1, title=HOSTILE[0]
    )


def real_model():
    file = File(name=HOSTILE[2], wheel="", hub="", size=98, sha256="0" * 64)
    names = {"name": HOSTILE[1], "authors": HOSTILE[3], "licence": HOSTILE[6]}
    card = Card(**names, wheel=f"{HOSTILE[0]}==1", files=(file,))
    jobs = {HOSTILE[5]: (0, 1), HOSTILE[1]: (1, 2)}
    return views.real_model(
        hostile_readings(), card, jobs=jobs, head=(1, 2), title=HOSTILE[0]
    )


# A new view gets a line here; it is then tested by test_views.py and in a browser.
SAMPLES = {
    "unfinished_story": unfinished_story,
    "model_in_the_page": model_in_the_page,
    "learning_in_the_page": learning_in_the_page,
    "head_splitter": head_splitter,
    "mask_painter": mask_painter,
    "memory_state": memory_state,
    "dot_product": dot_product,
    "query_explorer": query_explorer,
    "rotary_clocks": rotary_clocks,
    "tile_walk": tile_walk,
    "orthogonaliser": orthogonaliser,
    "soft_lookup": soft_lookup,
    "dropout_sampler": dropout_sampler,
    "temperature_and_width": temperature_and_width,
    "attention_view": attention_view,
    "all_heads": all_heads,
    "real_model": real_model,
    "sampler": sampler,
    "diagram": diagram,
    "explore": explore,
    "quiz": quiz,
}
