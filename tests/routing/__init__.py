"""Routing by file: what is decided upstream is read, checked and followed."""
