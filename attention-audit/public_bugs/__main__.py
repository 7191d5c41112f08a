"""Write the page, or audit the bugs of some repositories."""

import argparse
import sys

import torch

import attention_audit
from public_bugs.layer import Attention
from public_bugs.log import LENGTH, entries, problem
from public_bugs.page import PAGE, page


def main() -> None:
    """Audit all and write the page, unless repositories are named."""
    parser = argparse.ArgumentParser(prog="python -m public_bugs")
    parser.add_argument("name", nargs="?", help="part of a report's name")
    name = parser.parse_args().name
    torch.set_num_threads(1)
    log = entries()
    if name:
        for one in log:
            if name in str(one):
                print(f"{one}: {one.says}")
                layer = one.layer()
                d_in = getattr(layer, "d_in", Attention.d_in)
                attention_audit.audit(layer, d_in, LENGTH, **one.options)
        return
    wrong = [found for one in log if (found := problem(one))]
    if wrong:
        sys.exit("\n".join(wrong))
    PAGE.write_text(page(log), encoding="utf-8")


if __name__ == "__main__":
    main()
