"""Acceptance: what a correct repair of each sample report must show, kept out of workers' reach."""
