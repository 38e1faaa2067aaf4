"""What an administrator does to the store of a daemon that does not run."""
