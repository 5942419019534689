"""The optional parts of the package, and what to install for each."""

from __future__ import annotations

from importlib.util import find_spec

__all__ = ["EXTRAS", "MissingExtraError", "require"]

EXTRAS = {
    "cli": ("boto3", "pydantic", "rich", "typer", "yaml"),
    "local": ("aws_lambda_powertools", "boto3", "cloudpickle", "flask", "moto"),
    "report": ("jinja2", "plotly"),
}
"""The modules that each extra brings and the package imports."""


class MissingExtraError(ModuleNotFoundError):
    """An optional part is used without what it needs; the message names the extra."""


def require(extra: str, what: str) -> None:
    """Make sure that an extra is installed, without importing what it brings.

    Parameters
    ----------
    extra : str
        One of :data:`EXTRAS`.
    what : str
        What needs it, for the message.

    Raises
    ------
    MissingExtraError
        One of its modules isn't there.
    """
    for module in EXTRAS[extra]:
        if find_spec(module) is None:
            raise MissingExtraError(
                f"{what} needs the extra {extra!r} ({module} is not installed): pip install 'constructs-qm[{extra}]'",
                name=module,
            )
