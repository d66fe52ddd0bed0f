"""What the service answers, by path."""
