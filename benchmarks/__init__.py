"""Benchmarks of retention: each module answers one question."""
