"""A finding together with the place it is about."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from constructs_qm.validation.declared import Keys, Source
    from quota_scheduler import Finding

__all__ = ["Located", "located"]


@dataclass(frozen=True)
class Located:
    """A finding and where to mend it.

    Attributes
    ----------
    finding : Finding
        Its path is left empty: `source` and `keys` say where.
    source : Source
    keys : tuple of str or int
        The value below the source.
    """

    finding: Finding
    source: Source
    keys: Keys = ()

    @property
    def property_path(self) -> str:
        """The property, e.g. ``CapacityLimits.0.MaxCapacity``; empty for the whole."""
        return ".".join(map(str, self.keys))

    @property
    def path(self) -> str:
        """Where, for a reader: the source's path and the property below it."""
        return ".".join(filter(None, (self.source.path, self.property_path)))


def located(findings: Iterable[Finding], source: Source, keys: Keys = ()) -> Iterator[Located]:
    """Put findings at one place."""
    for finding in findings:
        yield Located(replace(finding, path=""), source, keys)
