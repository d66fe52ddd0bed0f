"""`anacp serve`: a page in the browser to teach by hand, and a service for programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from anacp import encoders, methods
from anacp import serve as serving
from anacp.cli.options import RemoteCode
from anacp.cli.say import say
from anacp.extras import require


def serve(
    model: Annotated[Path, typer.Argument(help="A model file; made if it is not there.", show_default=False)],
    texts: Annotated[bool, typer.Option("--texts", help="A new model learns texts, not photos.")] = False,
    backbone: Annotated[str | None, typer.Option(help="Of a new model.", show_default=False)] = None,
    learner: Annotated[str | None, typer.Option(help="Of a new model; AnaCP if left out.", show_default=False)] = None,
    host: Annotated[str, typer.Option(help="The address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 8000,
    remote_code: RemoteCode = False,
) -> None:
    """Teach a model by hand in the browser, and ask it over HTTP."""
    uvicorn = require("uvicorn", extra="serve", purpose="Serving")
    empty = None
    if not model.exists():
        name = backbone or ("minilm-l6" if texts else "efficientnet-lite0")
        empty = methods.Classifier(encoders.Encoder(name, remote_code=remote_code), learner or "AnaCP")
    service = serving.Service(model, empty)
    try:
        app = serving.create_app(service)
        config = uvicorn.Config(app, host=host, port=port, log_level="warning", access_log=False)
        server = uvicorn.Server(config)
        say(f"http://{host}:{port}/")
        server.run()
    finally:
        service.close()
