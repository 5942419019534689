"""The form of policy documents: which keys there are and of which type their values must be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from quota_scheduler.value_rules import short

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["FormFault", "check_policy_form", "is_guess", "unknown_key"]

_REQUIRED = {"name": "QM001", "limits": "QM002", "strategy": "QM006"}
"""Keys a share must have, and the rule that asks for them."""

_SHARE_KEYS = (*_REQUIRED, "borrowLimit", "inSharePreemption", "state")
_GUESS = "did you mean"
_LIMITS = "give instance types and how many instances of each"


class FormFault(NamedTuple):
    """What is wrong with the form of a document.

    Attributes
    ----------
    rule : str
        Id of :data:`quota_scheduler.rule_catalogue.RULES`.
    message : str
        What was given, what is allowed and how to mend it.
    where : str
        Part of the document, as a reader would call it; empty for the whole.
    keys : tuple of str or int
        The same as the document has it, outermost first.
    """

    rule: str
    message: str
    where: str = ""
    keys: tuple[str | int, ...] = ()

    def __str__(self) -> str:
        return f"{self.where and f'{self.where}: '}{self.message} [{self.rule}]"


def check_policy_form(document: object) -> Iterator[FormFault]:
    """Yield what is wrong with the form of a policy document; its values are the rules' own matter.

    Parameters
    ----------
    document : object
        As :func:`quota_scheduler.load_policy` takes it.
    """
    if not isinstance(document, Mapping):
        yield FormFault("QM-F06", f"policy is {type(document).__name__}: give an object with environment and shares")
        return
    for key in ("environment", "shares"):
        if key not in document:
            yield FormFault("QM-F05", f"policy has no {key!r}: give environment and shares")
    environment, shares = document.get("environment", {}), document.get("shares", ())
    if not isinstance(environment, Mapping):
        yield FormFault("QM002", f"{short(environment)} is not an object: {_LIMITS}", *_at("environment"))
    if isinstance(shares, str) or not isinstance(shares, Sequence):
        yield FormFault("QM-F06", f"{short(shares)} is not a list: give one of quota shares", *_at("shares"))
        return
    for index, share in enumerate(shares):
        yield from _check_share(share, index)


def _check_share(share: object, index: int) -> Iterator[FormFault]:
    at = _at("shares", index)
    if not isinstance(share, Mapping):
        yield FormFault("QM-F06", f"share is {short(share)}: give an object with {', '.join(_REQUIRED)}", *at)
        return
    unknown = {key: unknown_key(key, _SHARE_KEYS) for key in share if key not in _SHARE_KEYS}
    for key, message in unknown.items():
        yield FormFault("QM-F04", message, at[0], (*at[1], key))
    for key, rule in _REQUIRED.items():
        if key not in share and not any(is_guess(message, key) for message in unknown.values()):
            yield FormFault(rule, f"share has no {key!r}: give {', '.join(_REQUIRED)}", *at)
    limits, in_share = share.get("limits", {}), share.get("inSharePreemption", False)
    if not isinstance(limits, Mapping):
        yield FormFault("QM002", f"{short(limits)} is not an object: {_LIMITS}", *_at("shares", index, "limits"))
    if not isinstance(in_share, bool):
        where = _at("shares", index, "inSharePreemption")
        yield FormFault("QM-F06", f"{short(in_share)} is not allowed: use true or false", *where)
    state = share.get("state", "ENABLED")
    if state not in ("ENABLED", "DISABLED"):
        where = _at("shares", index, "state")
        yield FormFault("QM-F06", f"{short(state)} is not allowed: use ENABLED or DISABLED", *where)


def _at(*keys: str | int) -> tuple[str, tuple[str | int, ...]]:
    """Return the words for a place, such as ``shares[0].limits``, and its keys."""
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in keys).lstrip("."), keys


def unknown_key(key: object, known: Sequence[str]) -> str:
    """Return what to say of a key that isn't known, and which one may be meant."""
    from difflib import get_close_matches  # for errors only

    nearest = get_close_matches(str(key), known, 1)
    guess = f"{_GUESS} {nearest[0]}? " if nearest else ""
    return f"unknown key {short(key)}: {guess}use {', '.join(known)}"


def is_guess(message: str, key: object) -> bool:
    """Tell whether :func:`unknown_key` took a key for a misspelling of this one, which therefore isn't missing."""
    return f"{_GUESS} {key}? " in message
