"""One file for every team account: ``quota.yaml``, its models, and the stages and stacks made from it."""
