"""The policy in the README is the launch article's."""

from __future__ import annotations

import yaml
from support.documentation import ROOT, blocks_of

from quota_scheduler import load_policy


def test_the_policy_file_is_the_example() -> None:
    [policy] = [block.text for block in blocks_of(ROOT / "README.md") if block.language == "yaml"]
    example = (ROOT / "examples" / "article.yaml").read_text()
    assert load_policy(yaml.safe_load(policy)) == load_policy(yaml.safe_load(example))
