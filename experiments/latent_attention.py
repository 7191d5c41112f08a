"""What sparse attention and small caches miss, and what a gate does to sinks.

"recall": one attention layer reads 64 items, each a key with a value, and is then asked
for the values of 16 of the keys. One side attends to all positions; the others to 24,
in blocks of one size each, chosen by their mean keys; and as a control, to blocks
drawn at random.

"caches": the same layer with eight heads, whose cache holds all heads' keys and values
(MHA), one head's (MQA), or a latent and a short key that take as much room (MLA).

"sinks": the two blocks of chapter 9 learn little-world, with a gate behind attention
and without: how much weight do queries give to the first token?
"""

import functools
import sys
from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from experiments import many, running, sweeps
from helpers.attention import scaled_dot_product_attention
from helpers.models.language_model import TransformerLM
from helpers.models.latent_attention import MultiHeadLatentAttention
from helpers.models.sparse_attention import SparseCore, choose_blocks
from helpers.models.transformer_block import (
    BlockAttention,
    Core,
    TransformerConfig,
)
from helpers.text import corpus
from helpers.text.batches import Documents
from helpers.text.tokenizer import CharTokenizer
from helpers.training.loop import evaluate, train

BEGIN = {"recall": (0.008, 0.016, 0.032), "sinks": (0.002, 0.004, 0.008)}
BEGIN["caches"] = BEGIN["recall"]
STEPS = {"recall": 300, "caches": 300, "sinks": 400}
# --- recall --------------------------------------------------------------------------
KEYS, VALUES, ITEMS, ASKED = 64, 10, 64, 16
WIDTH, BATCH, READ = 32, 32, 24  # features, texts, and positions that a query sees
BLOCK_SIZES = (8, 4, 1)
SIDES: dict[str, dict[str, Any]] = {
    "all": {},
    **{f"blocks of {size}": {"block_size": size} for size in BLOCK_SIZES},
    "random blocks of 8": {"block_size": 8, "random": True},
}
# --- caches --------------------------------------------------------------------------
HEADS = 8
LATENT = {"latent_dim": 6, "rotary_dim": 2}  # 8 numbers, as one head's key and value
CACHES = {"MHA": HEADS, "MQA": 1, "MLA": 0}  # heads of keys in the cache
MEASURED = {"validation": 500, "test": 1_000}  # texts
# --- sinks ---------------------------------------------------------------------------
GATES = {"no gate": False, "gate": True}
STORIES = {"validation": 200, "test": 200}
FROM = 16  # queries before it see too few tokens to tell


class RandomCore(SparseCore):
    """Blocks drawn at random.

    Args:
        block_size: positions in a block.
        count: how many blocks each query attends to, its own included.
    """

    def __call__(
        self, queries: Tensor, keys: Tensor, values: Tensor, **_: object
    ) -> Tensor:
        """(B, H, T, D) from the same of queries, keys and values."""
        S = keys.shape[2]
        blocks = -(-S // self.block_size)
        scores = torch.rand(*queries.shape[:-1], blocks)
        sizes = {"block_size": self.block_size, "count": self.count}
        mask = choose_blocks(scores, S, **sizes)
        return scaled_dot_product_attention(queries, keys, values, mask=mask)[0]


def core_of(side: str) -> Core | None:
    """The core of a side's attention; None attends to all, as all CACHES do."""
    if "block_size" not in SIDES.get(side, {}):
        return None
    size = SIDES[side]["block_size"]
    core = RandomCore if SIDES[side].get("random") else SparseCore
    return core(size, READ // size)


class Recall(nn.Module):
    """One attention layer that is told items and asked for their values.

    Args:
        side: one of the SIDES, or of the CACHES.
    """

    def __init__(self, side: str) -> None:
        super().__init__()
        self.key_embedding = nn.Embedding(KEYS, WIDTH)
        self.value_embedding = nn.Embedding(VALUES + 1, WIDTH)  # the last: asked for
        self.attention = attention_of(side)
        self.head = nn.Linear(WIDTH, VALUES)
        for table in (self.key_embedding, self.value_embedding):
            nn.init.normal_(table.weight, std=0.5)

    def forward(self, keys: Tensor, values: Tensor) -> Tensor:
        """Ids (B, T) of keys and of values to logits (B, ASKED, VALUES)."""
        x = self.key_embedding(keys) + self.value_embedding(values)
        logits: Tensor = self.head(self.attention(x)[:, ITEMS:])
        return logits


def attention_of(side: str) -> Any:
    """The layer of a side: with one head, or with the HEADS of the CACHES."""
    T = ITEMS + ASKED
    if side == "MLA":
        return MultiHeadLatentAttention(WIDTH, HEADS, T, **LATENT)
    options: dict[str, Any] = {"num_heads": 1}
    if side in CACHES:
        options = {"num_heads": HEADS, "num_kv_heads": CACHES[side]}
    return BlockAttention(
        TransformerConfig(1, T, WIDTH, num_layers=1, positions="none", **options)
    )


def recall_texts(
    count: int, generator: torch.Generator
) -> tuple[Tensor, Tensor, Tensor]:
    """Texts of items and questions.

    Args:
        count: B, how many texts.
        generator: a ``torch.Generator`` on the CPU.

    Returns:
        keys: (B, ITEMS + ASKED); those of the items differ.
        values: (B, ITEMS + ASKED), with VALUES at the questions.
        answers: (B, ASKED)
    """
    keys = torch.rand(count, KEYS, generator=generator).argsort(-1)[:, :ITEMS]
    values = torch.randint(VALUES, (count, ITEMS), generator=generator)
    asked = torch.rand(count, ITEMS, generator=generator).argsort(-1)[:, :ASKED]
    questions = torch.full((count, ASKED), VALUES)
    return (
        torch.cat([keys, keys.gather(1, asked)], dim=1),
        torch.cat([values, questions], dim=1),
        values.gather(1, asked),
    )


def recalled(model: Recall, side: str, part: str, count: int) -> tuple[float, float]:
    """The loss in nats an answer, and the share of right ones, on some texts."""
    model.attention.core = core_of(side)
    seeds = {"validation": 1_001, "test": 1_002}
    texts = recall_texts(count, torch.Generator().manual_seed(seeds[part]))
    keys, values, answers = texts
    with torch.no_grad():
        logits = model(keys, values)
    loss = F.cross_entropy(logits.flatten(0, 1), answers.flatten())
    right = (logits.argmax(-1) == answers).double().mean()
    return loss.item(), right.item()


def train_recall(settings: many.Settings, **texts: int) -> many.Run:
    """One recall model: its "validation" loss, and the share of "right" answers."""
    count = MEASURED | texts
    side, steps = settings["side"], settings["steps"]
    torch.manual_seed(settings["seed"])
    model, generator = Recall(side), torch.Generator().manual_seed(settings["seed"])
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.0, weight_decay=0.0)
    for step in range(steps):
        share = min(1.0, (step + 1) / 20, 1.02 - step / steps)  # of the rate
        optimizer.param_groups[0]["lr"] = settings["rate"] * share
        model.attention.core = core_of(side)
        keys, values, answers = recall_texts(BATCH, generator)
        logits = model(keys, values)
        optimizer.zero_grad()
        F.cross_entropy(logits.flatten(0, 1), answers.flatten()).backward()
        optimizer.step()
    validation, _ = recalled(model, side, "validation", count["validation"])
    _, right = recalled(model, side, "test", count["test"])
    # Losses near 0 are compared, too.
    found: many.Run = {"validation": round(validation, 8)}
    found["right"] = running.rounded(right)
    return found


@functools.cache
def story_texts(
    validation: int, test: int
) -> tuple[CharTokenizer, Sequence[str], Sequence[str], Sequence[str]]:
    """A tokenizer, and stories to train on, to test with, and to choose rates by."""
    world = corpus.load("little-world", held_out_stories=test)
    other = corpus.load(
        "little-world", seed=1, train_stories=1, held_out_stories=validation
    )
    tokenizer = CharTokenizer(world.alphabet)
    return tokenizer, world.train, world.held_out, other.held_out


def train_sinks(settings: many.Settings, **stories: int) -> many.Run:
    """One model of little-world, with a gate or without.

    Returns:
        run: a dict of the "validation" and "test" loss in nats per character, and of
            the mean weight of each layer's heads on the "first" and on the "second"
            token, lists by layer and head.
    """
    count = STORIES | stories
    tokenizer, *texts = story_texts(count["validation"], count["test"])
    configs = running.recipe(
        tokenizer,
        running.Size(steps=settings["steps"], stories=0, variants=0, characters=0),
        learning_rate=settings["rate"],
        seed=settings["seed"],
        attention_gate=GATES[settings["side"]],
    )
    data, test, validation = (
        Documents.from_texts(part, tokenizer, configs[0].context_length)
        for part in texts
    )
    torch.manual_seed(settings["seed"])
    model = TransformerLM(configs[0])
    train(model, data, configs[1], device="cpu", progress=False)
    first, second = (weight_on(model, test, place) for place in (0, 1))
    return {
        "validation": running.rounded(evaluate(model, validation)),
        "test": running.rounded(evaluate(model, test)),
        "first": first,
        "second": second,
    }


def weight_on(model: TransformerLM, data: Documents, place: int) -> list[list[float]]:
    """The mean weight on one token, of the queries from ``FROM`` on.

    Args:
        model: a TransformerLM in eval mode.
        data: whole stories; what pads them isn't asked.
        place: of the token, behind the start character.

    Returns:
        shares: a list by layer, of lists by head.
    """
    sums, asked = torch.zeros(1, dtype=torch.float64), 0
    for ids, targets in data.all(100):
        real = (targets >= 0) & (torch.arange(ids.shape[1]) >= FROM)  # (B, T)
        with torch.no_grad():
            _, weights = model(ids, return_weights=True)
        on = torch.stack(weights)[..., place]  # (layers, B, H, T)
        sums = sums + (on * real[:, None]).sum(dim=(1, 3)).double()
        asked += int(real.sum())
    shares: list[list[float]] = (sums / asked).mul(1e4).round().div(1e4).tolist()
    return shares


def train_one(settings: many.Settings, **count: int) -> many.Run:
    """Train one model of a study.

    Args:
        settings: a dict of "study", "side", "rate", "seed" and "steps".
        count: how many texts or stories of the "validation" and of the "test".

    Returns:
        run: what ``train_recall`` or ``train_sinks`` measured.
    """
    study = train_sinks if settings["study"] == "sinks" else train_recall
    return study(settings, **count)


def wanted(record: dict[str, Any]) -> list[many.Settings]:
    """The runs that a record lacks: each side's rate is chosen by the first seed."""
    found = []
    for study, sides in (("recall", SIDES), ("caches", CACHES), ("sinks", GATES)):
        for side in sides:
            plain = {"study": study, "side": side, "steps": STEPS[study]}
            found += sweeps.lacking(
                record["runs"], plain, BEGIN[study], beside=sweeps.SEEDS[:1]
            )
    return found


if __name__ == "__main__":
    sys.exit(many.main("latent_attention", wanted, train_one))
