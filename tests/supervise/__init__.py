"""Supervised runs: documents, policies, the contract; promises by their ids."""
