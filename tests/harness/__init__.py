"""The harness: its promises by id, its values, its limits, its faults."""
