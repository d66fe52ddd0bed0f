"""A model that is taught and asked over HTTP: the service, its journal, the page."""

from typing import TYPE_CHECKING

from anacp.doors import door

if TYPE_CHECKING:
    from anacp.serve.app import create_app
    from anacp.serve.client import Client, ServiceError
    from anacp.serve.fetching import LabelStudio
    from anacp.serve.guarding import LOOPBACK, hashed
    from anacp.serve.limits import Limits
    from anacp.serve.replicas import replicated
    from anacp.serve.running import address_of, bound, run
    from anacp.serve.service import Service

__all__ = [
    "LOOPBACK",
    "Client",
    "LabelStudio",
    "Limits",
    "Service",
    "ServiceError",
    "address_of",
    "bound",
    "create_app",
    "hashed",
    "replicated",
    "run",
]

__getattr__ = door(__name__)
