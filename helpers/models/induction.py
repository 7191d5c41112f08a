"""Induction heads: do they go back to what came next the last time, and repeat it?

An induction head looks for an earlier place where the present character stood, attends
to the place after it, and raises the logit of the character that stands there. Each of
these two habits has a score here, and what they are good for is seen in the loss on
texts that repeat themselves (``helpers.text.repeats``).

Source: Elhage et al. 2021, "Induction Heads" and "Detecting Copying Behavior"; Olsson
et al. 2022, for scores of both habits. Prefix matching is measured as there, on the
weights; copying, which is measured there on what a head adds while it runs, is read off
its matrices here.
"""

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from helpers import validation
from helpers.models.language_model import TransformerLM
from helpers.models.patching import require_head
from helpers.models.switches import eval_mode
from helpers.models.transformer_block import TransformerConfig

SHARP = 100.0  # a score that leaves the other weights of a row next to nothing
SURE = 20.0  # a logit that leaves the other characters next to nothing


def after_the_same(ids: Tensor) -> Tensor:
    """Mark the places that come right after an earlier occurrence of a character.

    Args:
        ids: (B, T) int64.

    Returns:
        mask: (B, T, T) boolean: at [b, t, s], whether the character at s - 1, before t,
            is the one at t.
    """
    same = ids[:, :, None] == ids[:, None, :]  # (B, T, T): at t the one at s
    return F.pad(same, (1, 0))[..., :-1].tril()


def prefix_matching(model: TransformerLM, ids: Tensor) -> Tensor:
    """How much weight lies right after earlier occurrences of the present character.

    The mean over all positions whose character has occurred before, in all texts, of
    the weight on every place that ``after_the_same`` marks. Equal weights at position t
    (from 0) give 1 / (t + 1) where the character has occurred once.

    Args:
        model: a ``TransformerLM``; it is put into eval mode for the length of the call.
        ids: (B, T) int64, such as repeated texts.

    Returns:
        scores: (num_layers, H), from 0 to 1.

    Raises:
        ValueError: ids that the model can't read, or that repeat no character.
    """
    weights, mask = _all_weights(model, ids), after_the_same(ids)
    asked = _asked(mask)
    found = (weights * mask[:, None, None]).sum(dim=-1)  # (B, num_layers, H, T)
    return found.permute(0, 3, 1, 2)[asked].mean(dim=0)


def in_two_steps(model: TransformerLM, ids: Tensor) -> Tensor:
    """How much of what came next the last time arrives by way of a third place.

    A head of one layer attends to a place, and a head of the layer before it attends
    from there to the place that ``prefix_matching`` asks for. The products of the two
    weights are added up over all places in between. So a model whose layer 1 never
    looks at the character that it repeats is seen to have read it all the same.

    Args:
        model: a ``TransformerLM``; it is put into eval mode for the length of the call.
        ids: (B, T) int64, such as repeated texts.

    Returns:
        scores: (num_layers - 1, H, H), from 0 to 1: of each layer from the second on,
            by its head and by that of the layer before it.

    Raises:
        ValueError: ids that the model can't read, or that repeat no character.

    Source: Abnar and Zuidema 2020, Quantifying Attention Flow in Transformers,
    section 3 (weights of several layers multiplied), by heads.
    """
    weights, mask = _all_weights(model, ids), after_the_same(ids)
    asked = _asked(mask)
    later, before = weights[:, 1:, :, None], weights[:, :-1, None]
    found = ((later @ before) * mask[:, None, None, None]).sum(dim=-1)
    return found.permute(0, 4, 1, 2, 3)[asked].mean(dim=0)


def previous_token(model: TransformerLM, ids: Tensor) -> Tensor:
    """How much weight lies on the character right before.

    The mean over all positions but the first.

    Args:
        model: a ``TransformerLM``; it is put into eval mode for the length of the call.
        ids: (B, T) int64 with T of at least 2.

    Returns:
        scores: (num_layers, H), from 0 to 1.

    Raises:
        ValueError: ids that the model can't read, or a single character.
    """
    if ids.dim() == 2 and ids.shape[1] < 2:
        raise ValueError(f"ids must have T of at least 2, got {tuple(ids.shape)}")
    before = _all_weights(model, ids).diagonal(offset=-1, dim1=-2, dim2=-1)
    return before.mean(dim=(0, -1))


def losses_of_copies(model: TransformerLM, ids: Tensor) -> tuple[float, float]:
    """The loss on the first and on the second copy of texts that repeat themselves.

    Args:
        model: a ``TransformerLM``; it is put into eval mode for the length of the call.
        ids: (B, 1 + 2n) int64: a start character and n characters twice, n at least 2.

    Returns:
        first: nats per character, the mean over the n - 1 characters behind the first
            one of the first copy.
        second: the same of the second copy. What it is lower by is what the model has
            gained from the context.

    Raises:
        ValueError: ids that the model can't read, or whose halves differ.
    """
    n = (ids.shape[-1] - 1) // 2
    copies = ids[..., 1 : n + 1], ids[..., n + 1 :]
    if n < 2 or copies[0].shape != copies[1].shape or not copies[0].equal(copies[1]):
        raise ValueError(
            "ids must be a start character and at least 2 characters told twice, got "
            f"shape {tuple(ids.shape)}"
        )
    with eval_mode(model), torch.no_grad():
        logits = model(ids[:, :-1])
    nats = F.cross_entropy(logits.transpose(1, 2), ids[:, 1:], reduction="none")
    return float(nats[:, 1:n].mean()), float(nats[:, n + 1 :].mean())


def copying_matrix(model: TransformerLM, layer: int, head: int) -> Tensor:
    """What attending to a character adds to the logits, by the direct path alone.

    W_E W_V W_O W_U of one head: embedding, value, output projection, logits. What reads
    the embedding is the layer's norm; of the final norm the gain counts (and that a
    LayerNorm takes the mean away), but not the division, whose positive number no score
    below depends on. Positions, embeddings of pairs, biases, and what other layers have
    written or will make of it are left out. A row's mean is taken away, because softmax
    doesn't see it. Of a ``LoRALinear`` the frozen weight alone counts: merge first.

    Args:
        model: a ``TransformerLM`` with a residual path.
        layer: which block, from 0.
        head: which of its heads, from 0.

    Returns:
        added: (vocab_size, vocab_size): in the row of the character that is attended
            to, what each character's logit gets.

    Raises:
        ValueError: a layer or a head that the model doesn't have, or no residual path.

    Source: Elhage et al. 2021, "Splitting Attention Head Terms into Query-Key and
    Output-Value Circuits".
    """
    require_head(model, layer, head)
    if not model.config.residual:
        raise ValueError("model must have a residual path, which carries what is added")
    block, config = model.blocks[layer], model.config
    D = config.d_model // config.num_heads
    rows = slice(head * D, (head + 1) * D)
    shared = head * (config.num_kv_heads or config.num_heads) // config.num_heads
    of_values = slice(shared * D, (shared + 1) * D)  # heads 0, 0, 1, 1 have values 0, 1
    attention: Any = block.get_submodule("attention")
    gain: Any = model.final_norm
    output = model.token_embedding if model.head is None else model.head
    with torch.no_grad():
        x = block.get_submodule("attention_norm")(model.token_embedding.weight)
        x = (
            x
            @ attention.W_value.weight[of_values].T
            @ attention.out_proj.weight[:, rows].T
        )
        if config.norm == "layer":
            x = x - x.mean(dim=-1, keepdim=True)
        if config.norm != "none":
            x = x * gain.weight
        added = x @ output.weight.T
        return added - added.mean(dim=-1, keepdim=True)


def positive_share(added: Tensor) -> float:
    """How far a copying matrix's eigenvalues are positive: their sum over their sizes.

    Args:
        added: (vocab_size, vocab_size), as from ``copying_matrix``.

    Returns:
        share: from -1 to 1. A head that raises what it attends to has 1; by chance it
            is about 0. NaN where it adds nothing.

    Source: Elhage et al. 2021, "Detecting Copying Behavior".
    """
    eigenvalues = torch.linalg.eigvals(added.cpu().double())
    return float(eigenvalues.sum().real / eigenvalues.abs().sum())


def own_rank(added: Tensor) -> float:
    """How high the character that is attended to stands among the logits it adds to.

    Args:
        added: (vocab_size, vocab_size), as from ``copying_matrix``.

    Returns:
        rank: the share of other characters that get less than the character itself, on
            average over the characters: 1 where it always gets the most, 0.5 by chance.
    """
    own = added.diagonal()[:, None]
    return float((added < own).sum(dim=1).cpu().double().mean() / (len(added) - 1))


def by_hand(vocab_size: int, context_length: int) -> TransformerLM:
    """Two attention layers whose weights are set so that they do induction.

    The width holds four tables side by side: which character stands here, at which
    position, which one stood before, and what to say next. The head of layer 0 looks
    one position back and writes the character there into the third table. The head of
    layer 1 looks for a place whose third table names the present character, and writes
    the character of that place into the fourth, from which the logits are read.

    Args:
        vocab_size: number of different characters.
        context_length: the longest text it takes, in characters.

    Returns:
        model: a ``TransformerLM`` in eval mode, with one head in each layer, without
            norms and MLPs.

    Raises:
        ValueError: sizes that aren't whole numbers of at least 1.

    Source: Elhage et al. 2021, "Induction Heads".
    """
    validation.require_integers(vocab_size=vocab_size, context_length=context_length)
    V, T = vocab_size, context_length
    config = TransformerConfig(
        V, T, 3 * V + T, num_heads=1, num_layers=2, norm="none", mlp=False
    )
    model = TransformerLM(config).eval()
    here, place = slice(0, V), slice(V, V + T)
    before, after = slice(V + T, 2 * V + T), slice(2 * V + T, 3 * V + T)
    sharp = SHARP * config.d_model**0.5  # scores are divided by the width's root
    with torch.no_grad():
        for weight in model.parameters():
            weight.zero_()
        model.token_embedding.weight[:, here] = torch.eye(V)
        if model.position_embedding is not None:
            model.position_embedding.weight[:, place] = torch.eye(T)
        layers: list[Any] = [one.get_submodule("attention") for one in model.blocks]
        first, second = layers
        first.W_query.weight[place, place] = sharp * torch.eye(T)
        first.W_key.weight[place, place] = torch.eye(T).roll(1, dims=0)
        second.W_query.weight[here, here] = sharp * torch.eye(V)
        second.W_key.weight[here, before] = torch.eye(V)
        for attention, table in zip(layers, (before, after), strict=True):
            attention.W_value.weight[here, here] = torch.eye(V)
            attention.out_proj.weight[table, here] = torch.eye(V)
        if model.head is not None:
            model.head.weight[:, after] = SURE * torch.eye(V)
    return model


def _asked(mask: Tensor) -> Tensor:
    """The positions (B, T) whose character has occurred before; there must be one."""
    asked = mask.any(dim=-1)
    if not asked.any():
        raise ValueError("ids must repeat a character in at least one text")
    return asked


def _all_weights(model: TransformerLM, ids: Tensor) -> Tensor:
    """The weights of all layers, (B, num_layers, H, T, T)."""
    with eval_mode(model), torch.no_grad():
        _, weights = model(ids, return_weights=True)
    layers: Sequence[Tensor] = weights
    return torch.stack(list(layers), dim=1)
