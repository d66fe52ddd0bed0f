"""What must be refused."""

import contextlib
import re
from collections.abc import Iterator


@contextlib.contextmanager
def refuses(error: type[BaseException], message: str) -> Iterator[None]:
    """Fail unless what is done inside raises this error, with a message in which the pattern is found."""
    try:
        yield
    except error as problem:
        assert re.search(message, str(problem)), f"expected a message like {message!r}, got {problem}"
    else:
        raise AssertionError(f"expected {error.__name__}, got no error")
