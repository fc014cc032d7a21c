"""A GitHub-compatible host over real bare git repositories: an outside system, for rehearsals."""
