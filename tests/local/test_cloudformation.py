"""CloudFormation: the four Batch types, order, updates, replacement, and going back after a failure."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from botocore.exceptions import ClientError
from local.world import G5, World, limits


def _ref(name: str) -> dict[str, str]:
    return {"Ref": name}


def _share(name: str, limit: int = 1, **more: Any) -> dict[str, Any]:
    return {
        "Type": "AWS::Batch::QuotaShare",
        "Properties": {
            "QuotaShareName": name,
            "JobQueue": _ref("Queue"),
            "CapacityLimits": [{"CapacityUnit": G5, "MaxCapacity": limit}],
            "ResourceSharingConfiguration": {"Strategy": "LEND_AND_BORROW", "BorrowLimit": 200},
            "PreemptionConfiguration": {"InSharePreemption": "ENABLED"},
            **more,
        },
    }


# in an order in which nothing can be made as it comes
RESOURCES: dict[str, Any] = {
    "QS1": _share("QS1"),
    "QS2": _share("QS2", Tags={"team": "two"}),
    "Queue": {
        "Type": "AWS::Batch::JobQueue",
        "Properties": {
            "JobQueueType": "SAGEMAKER_TRAINING",
            "Priority": 1,
            "SchedulingPolicyArn": {"Fn::GetAtt": ["Policy", "Arn"]},
            "ServiceEnvironmentOrder": [{"Order": 1, "ServiceEnvironment": _ref("Environment")}],
        },
    },
    "Environment": {
        "Type": "AWS::Batch::ServiceEnvironment",
        "Properties": {
            "ServiceEnvironmentType": "SAGEMAKER_TRAINING",
            "CapacityLimits": [{"CapacityUnit": G5, "MaxCapacity": 3}],
        },
    },
    "Policy": {
        "Type": "AWS::Batch::SchedulingPolicy",
        "Properties": {"QuotaSharePolicy": {"IdleResourceAssignmentStrategy": "FIFO"}},
    },
}
OUTPUTS = {
    "Queue": {"Value": _ref("Queue")},
    "Share": {"Value": {"Fn::GetAtt": ["QS1", "QuotaShareArn"]}},
    "Sub": {"Value": {"Fn::Sub": "${Environment.ServiceEnvironmentArn} in ${AWS::Region}"}},
}


class _Stack:
    """A stack of the template above, changed as a test says."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.cloudformation = world.client("cloudformation")
        self.resources: dict[str, Any] = copy.deepcopy(RESOURCES)

    def deploy(self) -> str:
        """Create or update the stack as it is now; return its status."""
        template = json.dumps({"Resources": self.resources, "Outputs": OUTPUTS})
        try:
            self.cloudformation.describe_stacks(StackName="stack")
        except ClientError:
            self.cloudformation.create_stack(StackName="stack", TemplateBody=template)
        else:
            self.cloudformation.update_stack(StackName="stack", TemplateBody=template)
        return self.status()

    def status(self) -> str:
        return str(self.cloudformation.describe_stacks(StackName="stack")["Stacks"][0]["StackStatus"])

    def outputs(self) -> dict[str, str]:
        [stack] = self.cloudformation.describe_stacks(StackName="stack")["Stacks"]
        return {output["OutputKey"]: output["OutputValue"] for output in stack["Outputs"]}

    def events(self) -> list[tuple[str, str]]:
        events = self.cloudformation.describe_stack_events(StackName="stack")["StackEvents"]
        ordered = sorted(events, key=lambda event: event["Timestamp"])
        return [(event["LogicalResourceId"], event["ResourceStatus"]) for event in ordered]

    def shares(self) -> dict[str, Any]:
        [queue] = self.world.batch.describe_job_queues()["jobQueues"]
        shares = self.world.batch.list_quota_shares(jobQueue=queue["jobQueueArn"])["quotaShares"]
        return {share["quotaShareName"]: share for share in shares}


@pytest.fixture
def stack(world: World) -> _Stack:
    return _Stack(world)


def test_create_in_order_of_dependency(stack: _Stack) -> None:
    assert stack.deploy() == "CREATE_COMPLETE"
    shares = stack.shares()
    assert set(shares) == {"QS1", "QS2"}
    assert shares["QS1"]["capacityLimits"] == limits(g5=1)
    assert shares["QS1"]["resourceSharingConfiguration"] == {"strategy": "LEND_AND_BORROW", "borrowLimit": 200}
    assert shares["QS1"]["preemptionConfiguration"] == {"inSharePreemption": "ENABLED"}
    tags = stack.world.batch.list_tags_for_resource(resourceArn=shares["QS2"]["quotaShareArn"])["tags"]
    assert tags["team"] == "two"
    outputs = stack.outputs()
    assert outputs["Share"] == shares["QS1"]["quotaShareArn"] == f"{outputs['Queue']}/quota-share/QS1"
    assert outputs["Sub"].endswith(" in us-east-1")
    created = [name for name, status in stack.events() if status == "CREATE_COMPLETE"]
    assert created.index("Policy") < created.index("Queue") < created.index("QS1")
    assert created.index("Environment") < created.index("Queue")
    assert created[-1] == "stack"


def test_an_update_changes_what_differs_and_nothing_else(stack: _Stack) -> None:
    stack.deploy()
    before = stack.shares()
    stack.resources["QS1"] = _share("QS1", 2)
    stack.resources["QS3"] = _share("QS3")
    del stack.resources["QS2"]
    assert stack.deploy() == "UPDATE_COMPLETE"
    after = stack.shares()
    assert set(after) == {"QS1", "QS3"}
    assert after["QS1"]["capacityLimits"] == limits(g5=2)
    assert after["QS1"]["quotaShareArn"] == before["QS1"]["quotaShareArn"]
    updated = {name for name, status in stack.events() if status == "UPDATE_COMPLETE"}
    assert updated == {"QS1", "stack"}


@pytest.mark.parametrize(
    ("resource", "change"),
    [
        ("QS1", {"QuotaShareName": "renamed"}),
        ("Policy", {"Name": "renamed"}),
        ("Environment", {"ServiceEnvironmentName": "renamed"}),
    ],
)
def test_create_only_properties_replace(stack: _Stack, resource: str, change: dict[str, str]) -> None:
    stack.deploy()
    old = stack.cloudformation.describe_stack_resource(StackName="stack", LogicalResourceId=resource)
    stack.resources[resource]["Properties"].update(change)
    assert stack.deploy() == "UPDATE_COMPLETE"
    new = stack.cloudformation.describe_stack_resource(StackName="stack", LogicalResourceId=resource)
    old_id, new_id = (found["StackResourceDetail"]["PhysicalResourceId"] for found in (old, new))
    assert new_id.endswith("renamed")
    assert new_id != old_id
    events = stack.events()
    assert events.index((resource, "UPDATE_COMPLETE")) < events.index((resource, "DELETE_COMPLETE"))
    assert set(stack.shares()) == {"QS2", "renamed" if resource == "QS1" else "QS1"}


def test_a_queue_that_is_replaced_takes_its_shares_along(stack: _Stack) -> None:
    """The environment is one queue's only, so the new queue needs another one, too."""
    stack.deploy()
    stack.resources["Environment"]["Properties"]["ServiceEnvironmentName"] = "second"
    stack.resources["Queue"]["Properties"]["JobQueueName"] = "second"
    assert stack.deploy() == "UPDATE_COMPLETE"
    shares = stack.shares()
    assert set(shares) == {"QS1", "QS2"}
    assert "job-queue/second/" in shares["QS1"]["quotaShareArn"]


def test_a_failed_update_restores_what_was(stack: _Stack) -> None:
    stack.deploy()
    before, outputs = stack.shares(), stack.outputs()
    stack.resources["Environment"]["Properties"]["CapacityLimits"][0]["MaxCapacity"] = 5
    stack.resources["QS1"] = _share("QS1", 2)
    stack.resources["QS3"] = _share("QS3")
    stack.resources["QS3"]["DependsOn"] = "QS1"
    stack.resources["Bad"] = {**_share("Bad", 99), "DependsOn": ["QS1", "QS3"]}
    del stack.resources["QS2"]
    assert stack.deploy() == "UPDATE_ROLLBACK_COMPLETE"
    assert stack.shares() == before
    assert stack.outputs() == outputs
    [environment] = stack.world.batch.describe_service_environments()["serviceEnvironments"]
    assert environment["capacityLimits"] == limits(g5=3)
    events = stack.cloudformation.describe_stack_events(StackName="stack")["StackEvents"]
    [failed] = [event for event in events if event["ResourceStatus"] == "CREATE_FAILED"]
    assert failed["LogicalResourceId"] == "Bad"
    assert "QM005" in failed["ResourceStatusReason"]
    # and the stack can go on from here
    del stack.resources["Bad"]
    assert stack.deploy() == "UPDATE_COMPLETE"
    assert set(stack.shares()) == {"QS1", "QS3"}


def test_a_failed_creation_leaves_nothing(stack: _Stack) -> None:
    stack.resources["Bad"] = _share("Bad", 99)
    assert stack.deploy() == "ROLLBACK_COMPLETE"
    assert stack.world.batch.describe_job_queues()["jobQueues"] == []
    assert stack.world.batch.describe_service_environments()["serviceEnvironments"] == []


def test_names_that_exist_already(stack: _Stack) -> None:
    stack.world.make_environment(limits(g5=1), "taken")
    stack.resources["Environment"]["Properties"]["ServiceEnvironmentName"] = "taken"
    assert stack.deploy() == "ROLLBACK_COMPLETE"
    reasons = [
        event.get("ResourceStatusReason")
        for event in stack.cloudformation.describe_stack_events(StackName="stack")["StackEvents"]
    ]
    assert "Object already exists" in reasons
    assert len(stack.world.batch.describe_service_environments()["serviceEnvironments"]) == 1


def test_delete_in_reverse_order_with_jobs_running(stack: _Stack) -> None:
    stack.deploy()
    queue = stack.outputs()["Queue"]
    job = stack.world.submit("job", "QS1", jobQueue=queue)
    stack.world.advance(20)
    stack.cloudformation.delete_stack(StackName="stack")
    assert stack.world.batch.describe_job_queues()["jobQueues"] == []
    assert stack.world.batch.list_scheduling_policies()["schedulingPolicies"] == []
    assert stack.world.job(job)["status"] == "FAILED"
    with pytest.raises(ClientError, match="does not exist"):
        stack.status()


def test_what_is_retained_stays(stack: _Stack) -> None:
    for name in ("Policy", "Environment", "Queue"):
        stack.resources[name]["DeletionPolicy"] = "Retain"
    stack.deploy()
    stack.cloudformation.delete_stack(StackName="stack")
    [queue] = stack.world.batch.describe_job_queues()["jobQueues"]
    assert stack.world.batch.list_quota_shares(jobQueue=queue["jobQueueArn"])["quotaShares"] == []


def test_a_stack_that_cannot_be_deleted_says_so(stack: _Stack) -> None:
    stack.deploy()
    queue = stack.outputs()["Queue"].rpartition("/")[2]
    stack.world.make_share("by-hand", queue=queue)
    stack.cloudformation.delete_stack(StackName="stack")
    assert stack.status() == "DELETE_FAILED"


def test_conditions_parameters_and_exports(world: World) -> None:
    cloudformation = world.client("cloudformation")
    template = {
        "Parameters": {"Capacity": {"Type": "Number", "Default": 3}, "Make": {"Type": "String", "Default": "no"}},
        "Conditions": {"Made": {"Fn::Equals": [_ref("Make"), "yes"]}},
        "Resources": {
            "Environment": {
                "Type": "AWS::Batch::ServiceEnvironment",
                "Properties": {
                    "ServiceEnvironmentType": "SAGEMAKER_TRAINING",
                    "CapacityLimits": [{"CapacityUnit": G5, "MaxCapacity": _ref("Capacity")}],
                },
            },
            "Policy": {
                "Type": "AWS::Batch::SchedulingPolicy",
                "Condition": "Made",
                "Properties": {"QuotaSharePolicy": {"IdleResourceAssignmentStrategy": "FIFO"}},
            },
        },
        "Outputs": {
            "Environment": {"Value": _ref("Environment"), "Export": {"Name": "environment"}},
            "Policy": {"Condition": "Made", "Value": _ref("Policy")},
        },
    }
    body = json.dumps(template)
    cloudformation.create_stack(StackName="a", TemplateBody=body)
    assert len(cloudformation.list_exports()["Exports"]) == 1
    for make, policies in (("yes", 1), ("no", 0)):
        cloudformation.update_stack(
            StackName="a", TemplateBody=body, Parameters=[{"ParameterKey": "Make", "ParameterValue": make}]
        )
        assert len(world.batch.list_scheduling_policies()["schedulingPolicies"]) == policies
    importing = {
        "Resources": {
            "Parameter": {
                "Type": "AWS::SSM::Parameter",
                "Properties": {"Type": "String", "Name": "p", "Value": {"Fn::ImportValue": "environment"}},
            }
        }
    }
    cloudformation.create_stack(StackName="b", TemplateBody=json.dumps(importing))
    [environment] = world.batch.describe_service_environments()["serviceEnvironments"]
    value = world.client("ssm").get_parameter(Name="p")["Parameter"]["Value"]
    assert value == environment["serviceEnvironmentArn"]
    cloudformation.delete_stack(StackName="b")
    cloudformation.delete_stack(StackName="a")
    assert cloudformation.list_exports()["Exports"] == []


def test_parameters_with_previous_values(world: World) -> None:
    """As the cdk CLI sends them: the bootstrap version is an SSM parameter with a default."""
    cloudformation = world.client("cloudformation")
    world.client("ssm").put_parameter(Name="/version", Type="String", Value="30")
    template = {
        "Parameters": {
            "Version": {"Type": "AWS::SSM::Parameter::Value<String>", "Default": "/version"},
            "Name": {"Type": "String", "Default": "a"},
        },
        "Resources": {"Topic": {"Type": "AWS::SNS::Topic", "Properties": {"DisplayName": _ref("Version")}}},
        "Outputs": {"Version": {"Value": _ref("Version")}, "Name": {"Value": _ref("Name")}},
    }
    cloudformation.create_stack(StackName="s", TemplateBody=json.dumps(template))
    template["Outputs"]["More"] = {"Value": "more"}
    previous = [{"ParameterKey": key, "UsePreviousValue": True} for key in ("Version", "Name")]
    request = {"StackName": "s", "TemplateBody": json.dumps(template), "Parameters": previous}
    cloudformation.create_change_set(**request, ChangeSetName="c", ChangeSetType="UPDATE")
    cloudformation.execute_change_set(StackName="s", ChangeSetName="c")
    template["Outputs"]["Most"] = {"Value": "most"}
    cloudformation.update_stack(**{**request, "TemplateBody": json.dumps(template)})
    [stack] = cloudformation.describe_stacks(StackName="s")["Stacks"]
    outputs = {output["OutputKey"]: output["OutputValue"] for output in stack["Outputs"]}
    assert outputs == {"Version": "30", "Name": "a", "More": "more", "Most": "most"}


def test_change_sets(stack: _Stack) -> None:
    cloudformation = stack.cloudformation

    def change(kind: str, name: str, resources: dict[str, Any]) -> dict[str, Any]:
        body = json.dumps({"Resources": resources, "Outputs": OUTPUTS})
        cloudformation.create_change_set(StackName="stack", ChangeSetName=name, ChangeSetType=kind, TemplateBody=body)
        return dict(cloudformation.describe_change_set(StackName="stack", ChangeSetName=name))

    change("CREATE", "never-executed", stack.resources)
    made = change("CREATE", "first", stack.resources)
    assert made["Status"] == "CREATE_COMPLETE"
    assert len(made["Changes"]) == len(RESOURCES)
    cloudformation.execute_change_set(StackName="stack", ChangeSetName="first")
    assert stack.status() == "CREATE_COMPLETE"
    assert set(stack.outputs()) == set(OUTPUTS)
    unchanged = change("UPDATE", "second", stack.resources)
    assert (unchanged["Status"], "didn't contain changes" in unchanged["StatusReason"]) == ("FAILED", True)
    stack.resources["QS1"] = _share("QS1", 3)
    [change_] = change("UPDATE", "third", stack.resources)["Changes"]
    assert change_["ResourceChange"]["LogicalResourceId"] == "QS1"
    cloudformation.execute_change_set(StackName="stack", ChangeSetName="third")
    assert stack.shares()["QS1"]["capacityLimits"] == limits(g5=3)
    cloudformation.delete_change_set(StackName="stack", ChangeSetName="unknown")
    with pytest.raises(cloudformation.exceptions.ChangeSetNotFoundException):
        cloudformation.describe_change_set(StackName="stack", ChangeSetName="unknown")


def test_a_container_queue_is_still_motos(world: World) -> None:
    role = world.client("iam").create_role(RoleName="role", AssumeRolePolicyDocument="{}")["Role"]["Arn"]
    environment = world.batch.create_compute_environment(
        computeEnvironmentName="containers", type="UNMANAGED", state="ENABLED", serviceRole=role
    )["computeEnvironmentArn"]
    order = [{"Order": 1, "ComputeEnvironment": environment}]
    properties = {"Priority": 1, "State": "ENABLED", "ComputeEnvironmentOrder": order}
    template = {"Resources": {"Queue": {"Type": "AWS::Batch::JobQueue", "Properties": properties}}}
    cloudformation = world.client("cloudformation")
    cloudformation.create_stack(StackName="containers", TemplateBody=json.dumps(template))
    assert cloudformation.describe_stacks()["Stacks"][0]["StackStatus"] == "CREATE_COMPLETE"
    [queue] = world.batch.describe_job_queues()["jobQueues"]
    assert queue["computeEnvironmentOrder"] == [{"order": 1, "computeEnvironment": environment}]


def test_an_unknown_type_is_recorded(world: World, caplog: pytest.LogCaptureFixture) -> None:
    template = {
        "Resources": {"X": {"Type": "AWS::Unheard::Of", "Properties": {"A": 1}}},
        "Outputs": {"Arn": {"Value": {"Fn::GetAtt": ["X", "Arn"]}}, "Other": {"Value": {"Fn::GetAtt": ["X", "Id"]}}},
    }
    cloudformation = world.client("cloudformation")
    cloudformation.create_stack(StackName="s", TemplateBody=json.dumps(template))
    [stack] = cloudformation.describe_stacks(StackName="s")["Stacks"]
    outputs = {output["OutputKey"]: output["OutputValue"] for output in stack["Outputs"]}
    assert outputs["Arn"].startswith("arn:aws:unheard:us-east-1:123456789012:s-X-")
    assert "X (AWS::Unheard::Of) is recorded only" in caplog.text
