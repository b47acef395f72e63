"""Who may import whom, what is public, how large files are."""
