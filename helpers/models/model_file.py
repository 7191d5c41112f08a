"""A trained model as one file: its weights, its config and its alphabet.

It is a safetensors file, so no code hides in it. The page's trainer writes and reads
the same format in ``helpers/views/trainer/safetensors.js``.
"""

import dataclasses
import json
import math
import pathlib
import reprlib
from collections.abc import Mapping

import safetensors.torch
import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from helpers.models.language_model import TransformerLM
from helpers.models.transformer_block import TransformerConfig
from helpers.text.tokenizer import CharTokenizer
from helpers.whole_files import write_whole

FORMAT = "attention-one-step model 1"
DTYPE = "F32"  # safetensors' name of float32

Found = Mapping[str, tuple[str, tuple[int, ...]]]  # dtype and shape of each tensor


def save_model(
    path: pathlib.Path | str, model: TransformerLM, tokenizer: CharTokenizer
) -> None:
    """Write a model to a file, all of it or nothing.

    Args:
        path: the file, such as "model.safetensors"; one that is there already is
            replaced, and stays as it was where anything goes wrong.
        model: a TransformerLM of float32 numbers, on any device.
        tokenizer: its CharTokenizer.

    Raises:
        ValueError: a model or a tokenizer of another type; an alphabet whose length
            isn't the model's vocab_size; weights that don't fit the model's config,
            have another dtype or aren't finite.
        OSError: a file that can't be written.
    """
    for name, one, kind in (
        ("model", model, TransformerLM),
        ("tokenizer", tokenizer, CharTokenizer),
    ):
        if not isinstance(one, kind):
            raise ValueError(
                f"{name} must be a {kind.__name__}, got {type(one).__name__}"
            )
    weights = {
        name: weight.detach().to("cpu", copy=True).contiguous()
        for name, weight in model.state_dict().items()
    }
    found = {
        name: (_dtype(weight), tuple(weight.shape)) for name, weight in weights.items()
    }
    _model_for("model", model.config, tokenizer, found)
    _require_finite("model", weights)
    metadata = {
        "format": FORMAT,
        "config": json.dumps(dataclasses.asdict(model.config)),
        "alphabet": tokenizer.alphabet,
    }
    write_whole(pathlib.Path(path), safetensors.torch.save(weights, metadata))


def load_model(path: pathlib.Path | str) -> tuple[TransformerLM, CharTokenizer]:
    """Read a model that ``save_model`` or the page's trainer wrote.

    Args:
        path: the file.

    Returns:
        model: a TransformerLM in eval mode, on the CPU.
        tokenizer: its CharTokenizer.

    Raises:
        OSError: a file that isn't there or can't be read.
        ValueError: a file that is cut off or holds something else; a config with an
            option that is unknown or wrong; an alphabet that repeats a character, or
            whose length isn't vocab_size; a tensor that is missing, too much, of
            another shape or dtype, or not finite.
    """
    source = str(path)
    try:
        with safe_open(path, "pt", device="cpu") as file:
            config, tokenizer = _read_metadata(source, file.metadata() or {})
            slices = {name: file.get_slice(name) for name in file.keys()}  # noqa: SIM118
            found = {
                name: (str(one.get_dtype()), tuple(one.get_shape()))
                for name, one in slices.items()
            }
            model = _model_for(source, config, tokenizer, found)
            # Copies: what the file gives changes with the file.
            weights = {name: file.get_tensor(name).clone() for name in found}
            _require_finite(source, weights)
            model.load_state_dict(weights, assign=True)
    except SafetensorError as error:
        raise ValueError(
            f"{path} must be a whole safetensors file, but it is something else or cut "
            f"off: {error}"
        ) from error
    return model.eval(), tokenizer


def _read_metadata(
    source: str, metadata: Mapping[str, str]
) -> tuple[TransformerConfig, CharTokenizer]:
    if metadata.get("format") != FORMAT:
        raise ValueError(
            f"{source} holds no model of this book: its format must be {FORMAT!r}, "
            f"got {metadata.get('format')!r}"
        )
    for name in ("config", "alphabet"):
        if name not in metadata:
            raise ValueError(f"{source} is broken: its metadata must have {name!r}")
    try:
        config = _read_config(metadata["config"])
        return config, CharTokenizer(metadata["alphabet"])
    except (ValueError, RecursionError) as error:  # the latter of too many brackets
        raise ValueError(f"{source} is broken: {error}") from error


def _read_config(text: str) -> TransformerConfig:
    """An option that is left out, as in an older file, has its default."""
    try:
        options = json.loads(text)
    except ValueError as error:
        raise ValueError(f"its config isn't JSON ({error})") from error
    if not isinstance(options, dict):
        raise ValueError(f"its config must be an object, got {reprlib.repr(options)}")
    fields = dataclasses.fields(TransformerConfig)
    unknown = options.keys() - {field.name for field in fields}
    if unknown:
        name = min(unknown)
        got = reprlib.repr(options[name])
        raise ValueError(f"its config has an unknown option, {name} {got}")
    for field in fields:
        if field.default is dataclasses.MISSING and field.name not in options:
            raise ValueError(f"its config must have {field.name}")
    return TransformerConfig(**options)


def _model_for(
    source: str, config: TransformerConfig, tokenizer: CharTokenizer, found: Found
) -> TransformerLM:
    """A model of that config without numbers, if all that came is made for it."""
    if tokenizer.vocab_size != config.vocab_size:
        raise ValueError(
            f"{source} must have an alphabet of vocab_size {config.vocab_size} "
            f"characters, got {tokenizer.vocab_size}"
        )
    _require_room(source, config, sum(math.prod(shape) for _, shape in found.values()))
    with torch.device("meta"):  # it has shapes, and draws no weights
        model = TransformerLM(config)
    needed = {
        name: (DTYPE, tuple(one.shape)) for name, one in model.state_dict().items()
    }
    for name, (dtype, shape) in needed.items():
        if name not in found:
            raise ValueError(f"{source} lacks the tensor {name}")
        if found[name] != (dtype, shape):
            got, other = found[name]
            raise ValueError(
                f"{source} must hold {name} as {dtype} with shape {shape}, got {got} "
                f"with shape {other}"
            )
    for name in sorted(found.keys() - needed.keys()):
        raise ValueError(f"{source} has a tensor that its config doesn't have, {name}")
    return model


def _require_room(source: str, config: TransformerConfig, numbers: int) -> None:
    """The file is no smaller than the model that is to be compared with it."""
    C = config.d_model
    table = config.vocab_size ** (2 if config.pair_embedding else 1) * C
    matrices = config.num_layers * C * max(C, config.hidden if config.mlp else 0)
    if max(table, matrices) > numbers:
        raise ValueError(
            f"{source} has {numbers} numbers in its tensors, its config needs more"
        )


def _dtype(tensor: Tensor) -> str:
    return DTYPE if tensor.dtype == torch.float32 else str(tensor.dtype)


def _require_finite(source: str, weights: Mapping[str, Tensor]) -> None:
    for name, weight in weights.items():
        finite = weight.isfinite()
        if not finite.all():
            wrong = weight[~finite][0].item()
            raise ValueError(
                f"{source} must hold finite numbers, got {wrong} in {name}"
            )
