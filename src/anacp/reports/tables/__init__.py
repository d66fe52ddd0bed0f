"""Tables as values, and the four ways of writing one."""
