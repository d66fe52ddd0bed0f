"""A model that is taught and asked over HTTP: the service, its journal, the page."""

from typing import TYPE_CHECKING

from anacp.doors import door

if TYPE_CHECKING:
    from anacp.serve.app import create_app
    from anacp.serve.service import Service

__all__ = ["Service", "create_app"]

__getattr__ = door(__name__)
