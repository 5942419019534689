"""Documents of strangers: read safely, bounded, and every value with its place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from constructs_qm.validation.document import MAX_BYTES, read
from quota_scheduler import DocumentError

if TYPE_CHECKING:
    from pathlib import Path

LAUGHS = "a: &a [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{new}: &{new} [{','.join([f'*{old}'] * 10)}]\n" for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("a: !Ref Q", {"a": {"Ref": "Q"}}),
        ("a: !GetAtt Q.Outputs.X", {"a": {"Fn::GetAtt": ["Q", "Outputs.X"]}}),
        ("a: !Sub ['${x}', {x: !Ref Q}]", {"a": {"Fn::Sub": ["${x}", {"x": {"Ref": "Q"}}]}}),
        ("a: !If [c, 1, !Ref AWS::NoValue]", {"a": {"Fn::If": ["c", 1, {"Ref": "AWS::NoValue"}]}}),
        ("a: &x {b: 1, c: 2}\nd: {<<: *x, c: 3}\ne: *x", {
            "a": {"b": 1, "c": 2}, "d": {"b": 1, "c": 3}, "e": {"b": 1, "c": 2}}),
        ('{"a":\t1}', {"a": 1}),
        ("", None),
    ],
)  # fmt: skip
def test_yaml(tmp_path: Path, text: str, data: Any) -> None:
    path = tmp_path / "template.yaml"
    path.write_text(text)
    assert read(path).data == data


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("a.yaml", "[" * 100_000, "nest"),
        ("a.yaml", "- " * 50_000 + "a", "nested deeper than 100 levels"),
        ("a.json", "[" * 101 + "]" * 101, "nested deeper than 100 levels"),
        ("a.json", "[" * 100_000, "a.json"),
        ("a.yaml", LAUGHS, "too many values"),
        ("a.yaml", "a: !!python/object/apply:os.system ['true']", "a.yaml:1:4: not YAML: tag"),
        ("a.yaml", "a: !!python/name:os.system", "a.yaml:1:4: not YAML"),
        ("a.yaml", "a: 1\nb:\n  c: 1\n  c: 2\n", "a.yaml:4:3: not YAML: key 'c' is given twice"),
        ("a.yaml", "? [a]\n: b", "a key is no plain value"),
        ("a.yaml", "a: *nowhere", "a.yaml:1:4: not YAML"),
        ("a.yaml", "a: 2026-99-99", "a.yaml: not YAML"),
        ("a.json", "{", "a.json:1:2: not JSON"),
        ("a.yaml", "x" * (MAX_BYTES + 1), "larger than 10 MB"),
    ],
)
def test_refuses(tmp_path: Path, name: str, text: str, says: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(DocumentError) as error:
        read(path)
    assert says in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.yaml", "a: 1\nb:\n  - c: 2\n    d: {e: 3}\n"),
        ("a.json", '{"a": 1,\n"b":\n [{"c": 2,\n\t"d": {"e": 3}}]}'),
    ],
)
def test_place(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    document = read(path)
    lines = {"a.yaml": 4, "a.json": 4}
    assert document.place(("b", 0, "d", "e"))[0] == lines[name]  # type: ignore[index]
    assert document.place(("b", 0, "nowhere")) == document.place(("b", 0))
    assert document.place(()) == (1, 1)
