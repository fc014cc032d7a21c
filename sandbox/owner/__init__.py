"""Process ownership: whoever starts a process keeps it, restarts it, and takes it along."""
