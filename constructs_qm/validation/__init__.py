"""Checks of quota policies before they are deployed, and of what is deployed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from constructs_qm.validation.organisation import OrganisationRule
    from constructs_qm.validation.plugin import QuotaPolicyChecks

__all__ = ["OrganisationRule", "QuotaPolicyChecks"]

if not TYPE_CHECKING:  # a type checker would take any name for granted

    def __getattr__(name: str) -> object:
        """Import the plugin when it is asked for: aws_cdk takes seconds, and the command line needs none of it."""
        if name == "QuotaPolicyChecks":
            from constructs_qm.validation.plugin import QuotaPolicyChecks

            return QuotaPolicyChecks
        if name == "OrganisationRule":
            from constructs_qm.validation.organisation import OrganisationRule

            return OrganisationRule
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
