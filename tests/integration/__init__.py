"""The command line and the model-facing form, as their users meet them."""
