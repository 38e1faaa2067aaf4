"""1,000 hostile jobs of one user beside 100 of another: how long the other waits."""
