"""Workflows: their promises by id, its values, its limits, its faults."""
