"""Git as a subprocess: no system settings, no prompts, credentials by the environment only."""
