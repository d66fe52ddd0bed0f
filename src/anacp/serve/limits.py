"""How much one request, one client and the waiting line may be."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Numbers that are refused beyond."""

    body: int = 64_000_000  # bytes of a request
    items: int = 64  # photos or texts of a request
    characters: int = 20_000  # of a text
    seconds: float = 60.0  # of a request
    a_second: float = 0.0  # requests of one address, over a while; 0: as many as they like
    burst: int = 200  # requests of one address at once, where there is such a limit
    waiting: int = 2000  # requests that are being answered
    import_body: int = 500_000_000  # bytes of a model file
