"""Where the command begins, `anacp` or `python -m anacp`: what can be stopped comes first, then what takes long."""

from anacp import cli


def main() -> None:
    """Run the command line."""
    with cli.stoppable():
        cli.main()


if __name__ == "__main__":
    main()
