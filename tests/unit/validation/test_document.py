"""Documents of strangers: read safely, bounded, and every value with its place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from constructs_qm.validation.document import MAX_BYTES, read
from constructs_qm.validation.form_error import FormError

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
    ("name", "text", "rule", "place", "says"),
    [
        ("a.yaml", "[" * 100_000, "QM-F02", (1, 1001), "nested deeper than 100 levels"),
        ("a.yaml", "- " * 50_000 + "a", "QM-F02", (1, 201), "nested deeper than 100 levels"),
        ("a.json", "[\n" + "[" * 100 + "]" * 101, "QM-F02", (2, 100), "nested deeper than 100 levels"),
        ("a.json", '{"a":\n\t' + "[" * 100_000, "QM-F02", (2, 1001), "nested deeper than 100 levels"),
        ("a.yaml", LAUGHS, "QM-F02", None, "too many values"),
        ("a.yaml", "x" * (MAX_BYTES + 1), "QM-F02", (1, 1), "larger than 10 MB"),
        ("a.yaml", "a: !!python/object/apply:os.system ['true']", "QM-F01", (1, 4), "not YAML: tag"),
        ("a.yaml", "a: !!python/name:os.system", "QM-F01", (1, 4), "not YAML"),
        ("a.yaml", "? [a]\n: b", "QM-F01", (1, 3), "a key is no plain value"),
        ("a.yaml", "a: *nowhere", "QM-F01", (1, 4), "not YAML"),
        ("a.yaml", "a:\n  - 2026-99-99", "QM-F01", (2, 5), "not YAML: month must be in 1..12"),
        ("a.yaml", "a: b: c", "QM-F01", (1, 5), "not YAML: mapping values are not allowed"),
        ("a.yaml", "a:\n\tb: 1", "QM-F01", (2, 1), "not YAML: a tab: indent with spaces"),
        ("a.yaml", "a: \x00", "QM-F01", (1, 1), "not YAML"),
        ("a.json", "{", "QM-F01", (1, 2), "not JSON"),
        ("a.json", f'{{"a": {"9" * 5000}}}', "QM-F01", (1, 1), "not JSON"),
        ("a.yaml", b"a: 1\nb: \xff", "QM-F01", (2, 4), "not UTF-8 text"),
        ("a.yaml", "a: 1\nb:\n  c: 1\n  c: 2\n", "QM-F03", (4, 3), "key 'c' is given twice"),
        ("a.json", '{"a": 1,\n "b": {"c": 1,\n\t"c": 2}}', "QM-F03", (3, 2), "key 'c' is given twice"),
    ],
)
def test_refuses(
    tmp_path: Path, name: str, text: str | bytes, rule: str, place: tuple[int, int] | None, says: str
) -> None:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(FormError) as error:
        read(path)
    (fault,) = error.value.faults
    assert fault.rule == rule
    assert place in (None, (fault.line, fault.column))
    assert says in fault.message
    assert str(error.value) == f"{path}:{fault.line}:{fault.column}: {fault.message} [{rule}]"
    assert "\n" not in str(error.value)
    assert len(fault.message) < 300


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
