"""A file that is written as a whole, or not at all."""

import contextlib
import os
import pathlib
import uuid


def write_whole(path: pathlib.Path, content: bytes, *, by_many: bool = False) -> None:
    """Write beside a file, then rename: whoever is killed leaves the old one whole.

    Args:
        path: of the file, in a folder that exists.
        content: all that is in it afterwards.
        by_many: several processes may write it at once, so that each writes beside it
            under a name of its own. Without it, a write takes the place of what a
            killed one has left there.

    Raises:
        OSError: the disk is full, or the folder can't be written to. The old file is
            still there then.
    """
    own = f"{uuid.uuid4().hex}-" if by_many else ""
    writing = path.with_name(f".writing-{own}{path.name}")
    try:
        with open(writing, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        writing.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            writing.unlink()
        raise
