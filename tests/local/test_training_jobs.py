"""SageMaker's and IAM's part of a service job."""

from __future__ import annotations

import pytest
from local.world import World, borrow, limits


def _training_job(world: World, job: str, attempt: str | None = None) -> dict[str, object]:
    arn = attempt or world.job(job)["latestAttempt"]["serviceResourceId"]["value"]
    described = world.client("sagemaker").describe_training_job(TrainingJobName=arn.rpartition("/")[2])
    del described["ResponseMetadata"]
    return dict(described)


def test_training_job_of_each_state(either: World) -> None:
    world = either
    world.make_queue()
    world.make_share("s")
    job = world.submit("job", "s")
    seen = []
    for seconds in (1, 2, 5, 600):
        world.advance(seconds)
        training_job = _training_job(world, job)
        seen.append((training_job["TrainingJobStatus"], training_job["SecondaryStatus"]))
    assert seen == [
        ("InProgress", "Pending"),
        ("InProgress", "Downloading"),
        ("InProgress", "Training"),
        ("Completed", "Completed"),
    ]
    assert training_job["ResourceConfig"]["InstanceType"] == "ml.g5.xlarge"  # type: ignore[index]
    assert training_job["TrainingEndTime"] > training_job["TrainingStartTime"]  # type: ignore[operator]


def test_training_jobs_that_didnt_complete(world: World) -> None:
    world.make_queue(limits(g5=2))
    world.make_share("A", sharing=borrow())
    world.make_share("B")
    stays, borrower = world.submit("stays", "A", 2), world.submit("borrows", "A", 1)
    world.advance(10)
    first = world.job(borrower)["latestAttempt"]["serviceResourceId"]["value"]
    owner = world.submit("owner", "B")
    world.advance(2)
    assert _training_job(world, borrower, first)["TrainingJobStatus"] == "Stopping"
    world.advance(30)
    assert _training_job(world, borrower, first)["TrainingJobStatus"] == "Stopped"
    world.endpoint.fail(owner, "AlgorithmError: exit code 1")
    failed = _training_job(world, owner)
    assert failed["TrainingJobStatus"] == "Failed"
    assert "AlgorithmError" in str(failed["FailureReason"])
    world.batch.terminate_service_job(jobId=stays, reason="enough")
    assert _training_job(world, stays)["TrainingJobStatus"] == "Stopped"


def test_a_stopped_training_job_ends_the_service_job(world: World) -> None:
    world.make_queue()
    world.make_share("s")
    job = world.submit("job", "s")
    world.advance(10)
    name = world.job(job)["latestAttempt"]["serviceResourceId"]["value"].rpartition("/")[2]
    world.client("sagemaker").stop_training_job(TrainingJobName=name)
    assert world.job(job)["status"] == "FAILED"


def test_motos_own_training_jobs_are_still_there(world: World) -> None:
    sagemaker = world.client("sagemaker")
    with pytest.raises(sagemaker.exceptions.ClientError):
        sagemaker.describe_training_job(TrainingJobName="unknown")


def test_everything_is_allowed(either: World) -> None:
    answer = either.client("iam").simulate_principal_policy(
        PolicySourceArn="arn:aws:iam::123456789012:role/r", ActionNames=["s3:GetObject", "s3:PutObject"]
    )
    assert [result["EvalDecision"] for result in answer["EvaluationResults"]] == ["allowed", "allowed"]
