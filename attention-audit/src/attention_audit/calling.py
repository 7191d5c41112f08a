"""Call what somebody else wrote, and let nothing that it does get out."""

import contextlib
import io
from collections.abc import Iterator

import torch

SEED = 20_170_612
MOST_PRINTED = 1000


class StartOfIt(io.TextIOBase):
    """A file that keeps the start of what is written, however much comes."""

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> int:
        self.text += text[: MOST_PRINTED - len(self.text)]
        return len(text)


@contextlib.contextmanager
def apart() -> Iterator[StartOfIt]:
    """Random numbers begin at ``SEED``, and change nobody else's; no print gets out.

    Yields:
        printed: what keeps the start of what is printed.
    """
    printed = StartOfIt()
    # A generator that a GPU doesn't have yet needs no keeping, and would wake the GPU.
    gpus = range(torch.cuda.device_count()) if torch.cuda.is_initialized() else []
    with (
        torch.random.fork_rng(devices=gpus),
        contextlib.redirect_stdout(printed),
        same_default_dtype(),
    ):
        torch.default_generator.manual_seed(SEED)  # no other device's
        yield printed


@contextlib.contextmanager
def same_default_dtype() -> Iterator[None]:
    """What new tensors are made of stays as it was."""
    dtype = torch.get_default_dtype()
    try:
        yield
    finally:
        torch.set_default_dtype(dtype)


def start_numbers(seed: int) -> None:
    """Let random numbers begin at a seed, as ``torch.manual_seed`` does.

    That also notes, for each kind of accelerator that nobody has used yet, from where
    it was called: a third of an audit's time, where there is none.
    """
    if torch.accelerator.is_available():
        torch.manual_seed(seed)
    else:
        torch.default_generator.manual_seed(seed)


def wake_meta_device() -> None:
    """Make PyTorch load what it needs for its first computation on the meta device.

    That takes seconds, which shall be nobody's: an import that is stopped half-way
    would leave PyTorch broken for the rest of the session.
    """
    numbers = torch.ones(1, 1, device="meta")
    torch.nn.functional.linear(numbers, numbers, numbers[0])
