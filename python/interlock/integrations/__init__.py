"""Other people's engines: each module is an extra of its own, and nothing else imports one."""
