"""Models that others trained, in this book's own layers: ``load(name)``.

``catalogue`` says whose they are and which files are theirs, ``files`` brings them,
``reading`` turns files into tensors, ``architectures`` knows which layer each tensor
belongs to, and ``sentences`` makes vectors of sentences.
``python -m helpers.models.pretrained`` prints where a model's files lie.
"""

import dataclasses
import os
import pathlib
from dataclasses import dataclass

import torch
from torch import Tensor

from helpers import validation
from helpers.models.encoder import TransformerEncoder
from helpers.models.language_model import TransformerLM
from helpers.models.pretrained.architectures import architecture
from helpers.models.pretrained.catalogue import CARDS, Card
from helpers.models.pretrained.files import ModelUnavailable, folder_of
from helpers.models.pretrained.reading import Contents, read_folder, read_gguf
from helpers.models.transformer_block import TransformerConfig
from helpers.text.subwords import SubwordTokenizer

__all__ = ["ModelUnavailable", "Pretrained", "load"]


@dataclass(frozen=True)
class Pretrained:
    """A model with all that belongs to it.

    Attributes:
        model: a TransformerLM (Llama, GPT-2) or a TransformerEncoder (BERT), in eval
            mode.
        tokenizer: its SubwordTokenizer.
        card: whose it is and under which licence, a Card.
        unused: names of the file's tensors that the model doesn't need, such as a
            head for another task.
    """

    model: TransformerLM | TransformerEncoder
    tokenizer: SubwordTokenizer
    card: Card
    unused: tuple[str, ...] = ()


def load(
    name: str | pathlib.Path,
    *,
    context_length: int | None = None,
    dtype: torch.dtype = torch.float32,
    device: torch.device | str | None = None,
) -> Pretrained:
    """Load a model that others trained.

    By name: "smollm2-135m", a Llama of 2024 that writes and answers, whose file holds 4
    bits a weight; "minilm", an encoder of six layers whose vectors compare sentences.
    Their files are kept in the folder ``pretrained`` of BOOK_DATA, else of
    ~/.cache/attention-one-step; what isn't there is fetched once. They are used only if
    their SHA-256 is the one known here.

    By folder: any Llama, GPT-2 or BERT with ``config.json``, ``tokenizer.json`` and
    weights in safetensors, as the Hugging Face hub has them.

    Args:
        name: one of the names above, or a folder.
        context_length: the longest text it will take, in tokens; what it was trained
            for where left out, and no more than that.
        dtype: of the weights: float32, float64, bfloat16 or float16.
        device: where the weights go; the CPU where left out.

    Returns:
        pretrained: a Pretrained.

    Raises:
        ValueError: an unknown name, dtype or device; another architecture, or an option
            of one that these layers don't have; a file that is damaged, cut off,
            another model's, or holds pickled weights; a context that is too long.
        OSError: a folder or a file that isn't there. If it can't be fetched, a
            ModelUnavailable; no part of a file is left behind.

    Built with in chapter 17.
    """
    if dtype not in (torch.float32, torch.float64, torch.bfloat16, torch.float16):
        raise ValueError(f"dtype must be a floating point one, got {dtype!r}")
    _require_device(device)
    if isinstance(name, str) and name in CARDS:
        folder, card = folder_of(name), CARDS[name]
        first = folder / card.files[0].name
        contents = read_gguf(first) if first.suffix == ".gguf" else read_folder(folder)
        return _build(contents, card, context_length, dtype, device)
    folder = _require_folder(name)
    card = Card(name=folder.name, authors="its authors", licence="its licence")
    try:
        contents = read_folder(folder)
        return _build(contents, card, context_length, dtype, device)
    except ValueError as error:
        raise ValueError(f"{folder} can't be loaded: {error}") from error


def _require_device(device: torch.device | str | None) -> None:
    """One that takes tensors, which is known before anything is read."""
    try:
        torch.empty(0, device=device)
    except Exception as error:  # each kind of device has its own
        line = str(error).split("\n")[0]
        raise ValueError(
            f"device must be one that PyTorch has here, got {device!r}: {line}"
        ) from error


def _require_folder(name: str | pathlib.Path) -> pathlib.Path:
    if not isinstance(name, (str, pathlib.Path)):
        raise ValueError(f"name must be a string or a path, got {name!r}")
    folder = pathlib.Path(os.path.expanduser(name))
    if not str(name) or not folder.is_dir():
        raise ValueError(
            f"name must be one of {list(CARDS)} or a folder, got {str(name)!r}"
        )
    return folder


def _shorter(
    config: TransformerConfig, context_length: int, state: dict[str, Tensor]
) -> TransformerConfig:
    """The config of a shorter context, and learned positions cut to it, in place."""
    validation.require_integers(context_length=context_length)
    if context_length > config.context_length:
        raise ValueError(
            f"context_length must be at most {config.context_length}, for which the "
            f"model was trained, got {context_length}"
        )
    table = "position_embedding.weight"
    if table in state:
        state[table] = state[table][:context_length].clone()
    return dataclasses.replace(config, context_length=context_length)


def _build(
    contents: Contents,
    card: Card,
    context_length: int | None,
    dtype: torch.dtype,
    device: torch.device | str | None,
) -> Pretrained:
    kind = architecture(contents.settings)
    config = kind.config(contents.settings)
    state, unused = kind.state(contents.tensors, config)
    if context_length is not None:
        config = _shorter(config, context_length, state)
    state = {name: one.to(device, dtype) for name, one in state.items()}
    with torch.device("meta"):  # it has shapes, and draws no weights
        model = TransformerLM(config) if kind.causal else TransformerEncoder(config)
    for name, one in model.state_dict().items():
        if state[name].shape != one.shape:
            raise ValueError(
                f"{name} must have shape {tuple(one.shape)}, got "
                f"{tuple(state[name].shape)}"
            )
    model.load_state_dict(state, assign=True)
    if contents.tokenizer.vocab_size > config.vocab_size:
        raise ValueError(
            f"the tokenizer must have at most {config.vocab_size} tokens, got "
            f"{contents.tokenizer.vocab_size}"
        )
    return Pretrained(model.eval(), contents.tokenizer, card, tuple(unused))
