"""The two Lambda functions of a deployed auditor: the only place that knows AWS's clients and Powertools."""
