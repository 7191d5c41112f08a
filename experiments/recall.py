"""Associative recall: how many pairs a memory of fixed size can hold.

A text writes pairs of a key and a value, one pair a position, and then asks for keys:
which value did each have last? Half of the texts write every key once. In the others
few keys are written again and again, so that old values are in the way.

A pair is one vector, its key's embedding beside its value's. So nothing has to be found
but the pair, and what a model can't answer its memory hasn't kept.
"""

import sys
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from experiments import many, running, sweeps
from helpers.models.transformer_block import Block, TransformerConfig, make_norm
from helpers.training.config import TrainConfig
from helpers.training.optimizers import learning_rate_at

SIDES: dict[str, dict[str, Any]] = {
    "softmax": {},
    "linear": {"attention": "linear"},
    "decay": {"attention": "decay"},
    "delta": {"attention": "delta"},
    "gated delta": {"attention": "gated_delta"},
    "hybrid": {"attention": "gated_delta", "full_attention_interval": 2},
}
ROWS = (8, 16, 32)  # of a head's state, where its size is compared
WIDE = 64  # features of a model whose heads are so wide


def wide(rows: int) -> dict[str, int]:
    """One layer, whose heads have states of so many rows."""
    return {"num_layers": 1, "d_model": WIDE, "num_heads": WIDE // rows}


#: One layer: of softmax, and with states of other sizes.
BESIDE: dict[str, dict[str, Any]] = {
    "softmax, one layer": {"num_layers": 1, "num_heads": 1},
    **{f"delta, {rows} rows": {"attention": "delta", **wide(rows)} for rows in ROWS},
    "softmax, heads of 8": wide(8),
    "delta, 8 rows, twice the steps": {"attention": "delta", **wide(8)},
}
KEYS, VALUES = 64, 16
PAIRS = (2, 4, 8, 16, 32)  # different keys in a text
WRITES, ASKED = 32, 16  # pairs that a text writes at most, and keys that it asks for
D_MODEL, HEADS, LAYERS = 32, 2, 2  # so a head is 16 wide
STEPS, BATCH, WARMUP = 600, 16, 30
LONGER = {
    **{f"delta, {rows} rows": 2 * STEPS for rows in ROWS},
    "delta, 8 rows, twice the steps": 4 * STEPS,
}
BEGIN = (0.008, 0.016, 0.032)
BEGIN_WIDE = (0.004, 0.008, 0.016)
FIRST = sweeps.SEEDS[:1]  # it chooses the rate
TEXTS = {"validation": 64, "test": 256}  # of each kind


class Texts(NamedTuple):
    """What is written and asked, as ids.

    Attributes:
        keys: (B, W), what each pair is stored under.
        values: (B, W)
        asked: (B, Q), keys that were written.
        answers: (B, Q), the last value of each.
    """

    keys: Tensor
    values: Tensor
    asked: Tensor
    answers: Tensor


def draw(generator: torch.Generator, B: int, pairs: int, writes: int) -> Texts:
    """Draw texts of so many different keys.

    Args:
        generator: a ``torch.Generator`` of the CPU.
        B: how many texts.
        pairs: different keys in each.
        writes: W, at least ``pairs``; each key is written at least once.
    """
    of_text = torch.rand(B, KEYS, generator=generator).argsort(dim=1)[:, :pairs]
    again = torch.randint(pairs, (B, writes - pairs), generator=generator)
    which = torch.cat([torch.arange(pairs).expand(B, pairs), again], dim=1)
    order = torch.rand(B, writes, generator=generator).argsort(dim=1)
    which = which.gather(1, order)  # (B, W)
    values = torch.randint(VALUES, (B, writes), generator=generator)
    last = torch.zeros(B, pairs, dtype=torch.int64)
    for w in range(writes):
        last.scatter_(1, which[:, w : w + 1], values[:, w : w + 1])
    asked = torch.randint(pairs, (B, ASKED), generator=generator)
    return Texts(
        keys=of_text.gather(1, which),
        values=values,
        asked=of_text.gather(1, asked),
        answers=last.gather(1, asked),
    )


class RecallModel(nn.Module):
    """Blocks that read pairs and answer with a value.

    Args:
        side: one of the SIDES, or of those BESIDE them.
    """

    def __init__(self, side: str) -> None:
        super().__init__()
        options = {
            "num_heads": HEADS,
            "num_layers": LAYERS,
            "d_model": D_MODEL,
            **(SIDES | BESIDE)[side],
        }
        config = TransformerConfig(
            vocab_size=VALUES,
            context_length=WRITES + ASKED,
            positions="none",
            norm="rms",
            mlp_ratio=2,
            **options,
        )
        half = config.d_model // 2
        self.key_embedding = nn.Embedding(KEYS, half)
        self.value_embedding = nn.Embedding(VALUES, half)
        self.asking = nn.Parameter(torch.randn(half))  # in place of a value
        self.position_embedding = nn.Embedding(WRITES, config.d_model)
        self.blocks = nn.ModuleList(
            Block(config, layer) for layer in range(config.num_layers)
        )
        self.final_norm = make_norm(config)
        self.head = nn.Linear(config.d_model, VALUES, bias=False)

    def forward(self, texts: Texts) -> Tensor:
        """Logits (B, Q, VALUES) for what is asked."""
        W = texts.keys.shape[1]
        written = [self.key_embedding(texts.keys), self.value_embedding(texts.values)]
        # The last pair has the last place, however many there are.
        places = torch.arange(WRITES - W, WRITES)
        pairs = torch.cat(written, dim=-1) + self.position_embedding(places)
        asked = self.key_embedding(texts.asked)
        asking = self.asking.expand_as(asked)
        x = torch.cat([pairs, torch.cat([asked, asking], dim=-1)], dim=1)
        for block in self.blocks:
            x = block(x)
        logits: Tensor = self.head(self.final_norm(x[:, W:]))
        return logits


def kinds() -> list[tuple[int, int]]:
    """Different keys and writes of each kind of text: written once, or again."""
    return [(pairs, writes) for pairs in PAIRS for writes in (pairs, WRITES)]


def train_one(settings: many.Settings) -> many.Run:
    """Train a model on texts of all kinds, and ask it about new ones.

    Args:
        settings: a dict of "side", "rate", "seed" and "steps".

    Returns:
        run: a dict of the "validation" loss, in nats per answer, and of two lists with
            the share of right answers for each number of PAIRS: "once" in texts that
            write a key once, "again" in those with WRITES pairs.
    """
    torch.manual_seed(settings["seed"])
    model = RecallModel(settings["side"])
    generator = torch.Generator().manual_seed(settings["seed"])
    config = TrainConfig(
        steps=settings["steps"],
        batch_size=BATCH,
        learning_rate=settings["rate"],
        warmup_steps=min(WARMUP, settings["steps"] // 2),
    )
    optimizer = torch.optim.AdamW(
        model.parameters(),
        betas=config.betas,
        weight_decay=config.weight_decay,
        fused=True,
    )
    of_kind = kinds()
    for step in range(1, config.steps + 1):
        for group in optimizer.param_groups:
            group["lr"] = learning_rate_at(config, step)
        drawn = int(torch.randint(len(of_kind), (1,), generator=generator))
        loss = _loss(model, draw(generator, BATCH, *of_kind[drawn]))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return _measure(model.eval())


def _loss(model: RecallModel, texts: Texts) -> Tensor:
    return F.cross_entropy(model(texts).flatten(0, 1), texts.answers.flatten())


def _measure(model: RecallModel) -> many.Run:
    generators = [
        torch.Generator().manual_seed(seed) for seed in (1_000_001, 1_000_002)
    ]
    validation, shares = [], []
    with torch.no_grad():
        for kind in kinds():
            texts = draw(generators[0], TEXTS["validation"], *kind)
            validation.append(_loss(model, texts).item())
            texts = draw(generators[1], TEXTS["test"], *kind)
            right = model(texts).argmax(dim=-1) == texts.answers
            shares.append(running.rounded(right.double().mean().item()))
    return {
        "validation": running.rounded(sum(validation) / len(validation)),
        "once": shares[0::2],
        "again": shares[1::2],
    }


def wanted(record: dict[str, Any]) -> list[many.Settings]:
    """The runs that a record lacks."""
    found: list[many.Settings] = []
    for side in (*SIDES, *BESIDE):
        plain = {"side": side, "steps": LONGER.get(side, STEPS)}
        begin = BEGIN_WIDE if "d_model" in (SIDES | BESIDE)[side] else BEGIN
        found += sweeps.lacking(record["runs"], plain, begin, beside=FIRST)
    return found


if __name__ == "__main__":
    sys.exit(many.main("recall", wanted, train_one))
