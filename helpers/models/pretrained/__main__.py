"""Print where a model's files lie, and bring them if need be.

``python -m helpers.models.pretrained path smollm2-135m``
"""

import argparse
import sys

from helpers.models.pretrained.catalogue import CARDS
from helpers.models.pretrained.files import folder_of


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns its exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m helpers.models.pretrained", description=__doc__
    )
    commands = parser.add_subparsers(dest="command", required=True)
    path = commands.add_parser("path", help="print the path of a model's weights")
    path.add_argument("name", nargs="?", default="smollm2-135m", choices=list(CARDS))
    chosen = parser.parse_args(arguments)
    card = CARDS[chosen.name]
    try:
        folder = folder_of(chosen.name)
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1
    print(card, file=sys.stderr)
    print(folder / card.files[0].name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
