"""A pytest plugin: the fixture ``attention_audit``.

pytest finds it by itself wherever this package is installed, and imports this
module each time that it starts. So torch and the audit are imported by the first test
that asks.
"""

import contextlib
import io
import warnings
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from attention_audit import Audit


@pytest.fixture(scope="session")
def attention_audit() -> Callable[..., "Audit"]:
    """Audit an attention layer: attention_audit(layer, d_in, context_length, ...).

    Takes all options of the audit, and allow=("scale",) for checks that may fail. Fails
    the test with the audit's table where any other check fails or a required one wasn't
    run, and skips it where others weren't for want of time.
    """
    return require


def require(
    module: Any,
    d_in: int,
    context_length: int,
    *,
    allow: Collection[str] = (),
    **options: Any,
) -> "Audit":
    """Audit a layer, and fail the test that runs where a check fails.

    Args:
        module: an ``nn.Module`` that maps x (B, T, d_in) to a context (B, T, d_out).
        d_in: width of a token.
        context_length: T, the longest sequence it takes.
        allow: names of checks that may fail. Where one of them doesn't, there is a
            warning and no failure: whether a check fails can depend on the machine.
        **options: all other options of the audit.

    Returns:
        found: the Audit.

    Raises:
        ValueError: an option that the audit refuses, or a name in ``allow`` that no
            check has.
    """
    __tracebackhide__ = True
    from attention_audit import audit
    from attention_audit.annotations import line_of
    from attention_audit.explained import require_names

    allow = require_names("allow", allow)
    with contextlib.redirect_stdout(io.StringIO()):  # a failure shows the table itself
        found = audit(module, d_in, context_length, **options)
    failed, idle = found.failed_except(allow)
    if failed:
        lines = [
            f"{line}: {check}"
            for check in failed
            if (line := line_of(found, check, module))
        ]
        said = [
            f"{found.name}: {', '.join(failed)}",
            str(found),
            found.advice(),
            *lines,
        ]
        pytest.fail("\n".join(said).rstrip(), pytrace=False)
    required = require_names("require", options.get("require", ()))
    if late := [name for name in required if name in found.unrun]:
        why = f"required, but not run: {', '.join(late)}; see seconds"
        pytest.fail(f"{found.name}: {why}\n{found}", pytrace=False)
    print(found)
    if found.unrun:  # a slow machine is no mistake of the layer
        pytest.skip(f"{found.name}: not run: {', '.join(found.unrun)}; see seconds")
    if idle:
        warnings.warn(
            f"{found.name}: allowed to fail, but doesn't: {', '.join(idle)}",
            stacklevel=2,
        )
    return found
