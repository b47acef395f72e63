"""Other people's engines: each module is an extra, and nothing else imports it."""
