"""The command line: all colour, progress and printing."""
