"""Benchmarks, one file for each claim of README.md."""
