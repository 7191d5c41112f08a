"""Dtypes that a layer refuses by mistake, with an error that no owner has written."""

import re

from attention_audit.frames import place
from attention_audit.subject import Subject, context_of, error_text

# PyTorch's words for a number that float16 hasn't, and for two dtypes in one product.
TOO_LARGE = re.compile(r"cannot be converted to type|out of range|overflow")
MIXED = re.compile(
    r"same dtype, but|expected scalar type \w+ but|have the same dtype|dtypes match"
)
LACKING = re.compile(r"not implemented for")


def refuses_float16_alone(subject: Subject) -> str:
    """Whether a constant alone, such as a mask's -1e9, keeps a layer from float16.

    In bfloat16, which is as wide as float32, it works. Where this machine lacks an
    operation, nothing is said.
    """
    if subject.half is not None:
        return ""
    context_of(subject.copy().bfloat16(), subject.x().bfloat16())
    try:
        context_of(subject.copy().half(), subject.x().half())
    except Exception as error:
        if not TOO_LARGE.search(str(error)):
            return ""
        return (
            f"refuses float16 and not bfloat16: {error_text(error)}{place(error)}; "
            "float16 ends at 65,504"
        )
    return ""


def mixed(reason: str) -> bool:
    """Whether a dtype was refused since two of them met, and not for want of a kernel.

    Many layers are meant for float32 alone. But for whoever requires other dtypes, it
    is a mistake: something is made in float32 in the middle.
    """
    said = reason.partition("refuses ")[2]
    return bool(MIXED.search(said) and not LACKING.search(said))
