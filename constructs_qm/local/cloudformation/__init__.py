"""CloudFormation as far as ``cdk deploy`` needs it.

moto parses templates and keeps most of the resources; what order things are done in, what an update changes, what
a failure undoes, and the types moto lacks, are ours.
"""
