"""What ``batch-quota validate`` takes, told apart by content."""

from __future__ import annotations

from typing import TYPE_CHECKING

from constructs_qm.validation.assembly_reader import Assembly, read_assembly
from constructs_qm.validation.declared import Declarations
from constructs_qm.validation.document import read
from constructs_qm.validation.intrinsics import Stack
from constructs_qm.validation.policy_reader import is_policy, read_policies
from constructs_qm.validation.template_reader import read_templates
from quota_scheduler.policy_form import FormFault

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["read_input"]


def read_input(path: Path) -> tuple[Declarations, Assembly]:
    """Read a policy file, a deployment file, a CloudFormation template or a cloud assembly.

    Returns
    -------
    tuple of Declarations and Assembly
        What is declared, and what a cloud assembly says beside it; an empty one for everything else.

    Raises
    ------
    FormError
        It is none of these, or has the wrong form.
    DocumentError
        It can't be read.
    """
    if path.is_dir():
        assembly = read_assembly(path)
        return read_templates(assembly.stacks), assembly
    document = read(path)
    data = document.data
    if isinstance(data, dict) and {"teams", "defaults"} & data.keys():
        from constructs_qm.deployment.reader import declare_deployment, parse_deployment

        return Declarations(queues=declare_deployment(path, parse_deployment(document))), Assembly()
    if isinstance(data, dict) and "Resources" in data:
        return read_templates([Stack("", data, path)]), Assembly()
    if is_policy(data):
        return Declarations(queues=read_policies(document)), Assembly()
    kinds = "a policy (environment, shares), a deployment file (teams), a CloudFormation template (Resources)"
    raise document.error([FormFault("QM-F08", f"neither {kinds} nor a cdk.out folder")])
