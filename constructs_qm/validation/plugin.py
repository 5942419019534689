"""The policy rules as a validation plugin of the CDK: every template of the app is checked when it is synthesised."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import aws_cdk as cdk
import jsii

from constructs_qm._version import __version__
from constructs_qm.validation.assembly_reader import PLUGIN, Assembly, read_stacks
from constructs_qm.validation.checks import check
from constructs_qm.validation.template_reader import read_templates
from quota_scheduler import Level
from quota_scheduler.rule_catalogue import RULES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from constructs_qm.validation.located import Located
    from constructs_qm.validation.organisation import OrganisationRule

__all__ = ["QuotaPolicyChecks"]

_SEVERITIES = {Level.ERROR: "error", Level.WARNING: "warning", Level.NOTE: "info"}


@jsii.implements(cdk.IPolicyValidationPlugin)
class QuotaPolicyChecks:
    """Checks QM001 to QM015 over typed constructs, L1 resources and foreign templates in the app.

    Errors fail the synthesis; warnings do with ``cdk synth --strict``. What a typed construct says itself, by an
    annotation, isn't said twice. ``JSII_HOST_STACK_TRACES=1`` adds the Python line to each finding.

    Acknowledge a finding on its construct or on one above, by ``constructs-qm::QM014`` or the like; the
    validation report counts those.

    Parameters
    ----------
    rules : sequence of OrganisationRule, optional
        Rules of your organisation.

    Examples
    --------
    >>> cdk.Validations.of(app).add_plugins(QuotaPolicyChecks())
    """

    def __init__(self, rules: Sequence[OrganisationRule] = ()) -> None:
        self._rules = tuple(rules)
        self._mend = {**{id: text.mend for id, text in RULES.items()}, **{rule.id: rule.mend for rule in rules}}

    @property
    def name(self) -> str:
        """Namespace of the rules in acknowledgements."""
        return PLUGIN

    @property
    def version(self) -> str:
        """Version of this package."""
        return __version__

    @property
    def rule_ids(self) -> list[str]:
        """Rules it evaluates."""
        return [*(id for id in RULES if not id.startswith("QM-")), *(rule.id for rule in self._rules)]

    def validate(self, context: cdk.IPolicyValidationContext) -> cdk.PolicyValidationPluginReport:
        """Check the templates of the app; called by the CDK."""
        assembly = read_stacks(Path(path) for path in context.template_paths)
        found = check(read_templates(assembly.stacks), self._rules)
        shown = [item for item in found if not _is_settled(assembly, item)]
        return cdk.PolicyValidationPluginReport(
            success=not any(item.finding.level is Level.ERROR for item in shown),
            violations=[self._violation(item) for item in shown],
            metadata={"acknowledged": str(_count_acknowledged(assembly, found))},
        )

    def _violation(self, item: Located) -> cdk.PolicyViolation:
        finding, source = item.finding, item.source
        where = f"{item.property_path}: " if item.keys else ""
        return cdk.PolicyViolation(
            rule_name=finding.rule,
            description=f"{where}{finding.message} [{finding.rule}]",
            fix=self._mend.get(finding.rule) or None,
            severity=_SEVERITIES[finding.level],
            violating_resources=[
                cdk.PolicyViolatingResource(
                    resource_logical_id=source.logical_id,
                    template_path=str(source.file),
                    locations=[".".join(filter(None, ("Properties", item.property_path)))],
                )
            ],
        )


def _is_settled(assembly: Assembly, item: Located) -> bool:
    """Tell what needs no word here: the construct says it itself, or its own warning is acknowledged.

    The CDK takes care of acknowledgements that name the plugin.
    """
    rule, path = item.finding.rule, item.source.path
    acknowledged = assembly.acknowledgement(path, rule)
    return assembly.is_said(path, rule) or (acknowledged is not None and not acknowledged.of_plugin)


def _count_acknowledged(assembly: Assembly, found: Iterable[Located]) -> int:
    return sum(assembly.acknowledgement(item.source.path, item.finding.rule) is not None for item in found)
