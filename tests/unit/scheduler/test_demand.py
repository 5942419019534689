"""Demands read from CreateTrainingJob requests."""

from __future__ import annotations

import json

import pytest

from quota_scheduler import PayloadError, demand_from_payload

G5, P5 = "ml.g5.xlarge", "ml.p5.48xlarge"


@pytest.mark.parametrize(
    ("config", "demand"),
    [
        ({"InstanceType": G5, "InstanceCount": 2}, ((G5, 2),)),
        ({"InstanceType": G5, "InstanceCount": 2, "InstanceGroups": []}, ((G5, 2),)),
        (
            {
                "InstanceGroups": [
                    {"InstanceType": P5, "InstanceCount": 1, "InstanceGroupName": "gpu"},
                    {"InstanceType": G5, "InstanceCount": 2, "InstanceGroupName": "data"},
                    {"InstanceType": G5, "InstanceCount": 3, "InstanceGroupName": "more"},
                ]
            },
            ((G5, 5), (P5, 1)),
        ),
    ],
)
def test_reads_instances_per_type(config: dict, demand: tuple) -> None:
    assert demand_from_payload(json.dumps({"TrainingJobName": "x", "ResourceConfig": config})) == demand


@pytest.mark.parametrize(
    ("payload", "says"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        (None, "not JSON"),
        ("[]", "has no ResourceConfig"),
        ("{}", "has no ResourceConfig"),
        ('{"ResourceConfig": 3}', "has no ResourceConfig"),
        ('{"ResourceConfig": {"InstanceCount": 1}}', "has no InstanceType"),
        ('{"ResourceConfig": {"InstanceType": "ml.g5.xlarge"}}', "InstanceCount None of ml.g5.xlarge"),
        ('{"ResourceConfig": {"InstanceType": "ml.g5.xlarge", "InstanceCount": 0}}', "InstanceCount 0"),
        ('{"ResourceConfig": {"InstanceType": "ml.g5.xlarge", "InstanceCount": true}}', "InstanceCount True"),
        ('{"ResourceConfig": {"InstanceType": "ml.g5.xlarge", "InstanceCount": 1.5}}', "InstanceCount 1.5"),
        ('{"ResourceConfig": {"InstanceGroups": {"a": 1}}}', "InstanceGroups is not a list"),
        ('{"ResourceConfig": {"InstanceGroups": [3]}}', "InstanceGroups has no InstanceType"),
        (
            '{"ResourceConfig": {"InstanceType": "ml.g5.xlarge", "InstanceGroups": [{}]}}',
            "both InstanceGroups and InstanceType",
        ),
    ],
)
def test_fails_for_an_unreadable_payload(payload: object, says: str) -> None:
    with pytest.raises(PayloadError, match=says) as caught:
        demand_from_payload(payload)
    assert "\n" not in str(caught.value)
