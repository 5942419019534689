"""The Python in docs/endpoint.md runs as it is written there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[2] / "docs" / "endpoint.md"


def test_the_examples_run(capsys: Any) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    names: dict[str, Any] = {}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)
    assert len(blocks) == 3
    assert capsys.readouterr().out.split() == ["CreateSchedulingPolicy", "[]"]
