"""`anacp serve`: a page in the browser to teach by hand, and a service for programs."""

from __future__ import annotations

import secrets
import threading
import webbrowser
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import typer

from anacp import cluster, encoders, methods
from anacp import serve as serving
from anacp.cli.options import ClusterOption, RemoteCode
from anacp.cli.say import say
from anacp.errors import InputError, ParameterError
from anacp.extras import require

BACKBONES = {False: "efficientnet-lite0", True: "minilm-l6"}
SHORTEST_TOKEN = 16


def serve(
    model: Annotated[
        Path | None,
        typer.Argument(
            help="A model file, made if it is not there; or a folder of class folders, learned into FOLDER.anacp. "
            "Left out: the only model here, or a new my.anacp.",
            show_default=False,
        ),
    ] = None,
    texts: Annotated[bool, typer.Option("--texts", help="A new model learns texts, not photos.")] = False,
    backbone: Annotated[
        str | None,
        typer.Option(
            help="Of a new model: efficientnet-lite0, or minilm-l6 for texts, if left out.", show_default=False
        ),
    ] = None,
    learner: Annotated[str | None, typer.Option(help="Of a new model: AnaCP if left out.", show_default=False)] = None,
    learn: Annotated[
        list[str] | None,
        typer.Option(help="A folder or table to learn meanwhile; goes on after a restart.", show_default=False),
    ] = None,
    host: Annotated[str, typer.Option(help="The address to listen at; another than this needs a token.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 8000,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(help="A name under which the service is asked, besides its address.", show_default=False),
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option(help="A file with the token that clients must show; otherwise one is made.", show_default=False),
    ] = None,
    label_studio: Annotated[
        str | None,
        typer.Option(help="The address of Label Studio, whose photos are fetched from there.", show_default=False),
    ] = None,
    label_studio_token_file: Annotated[
        Path | None, typer.Option(help="A file with a legacy token of Label Studio.", show_default=False)
    ] = None,
    rate: Annotated[
        float | None,
        typer.Option(min=0, help="Requests a second of one address; 50 where a token is needed.", show_default=False),
    ] = None,
    on: ClusterOption = None,
    replicas: Annotated[
        int | None, typer.Option(min=1, help="With --cluster: copies that answer; 2 if left out.", show_default=False)
    ] = None,
    replica_port: Annotated[int, typer.Option(min=1, max=65535, help="With --cluster: where they answer.")] = 8001,
    open_page: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
    remote_code: RemoteCode = False,
) -> None:
    """Teach a model by hand in the browser, and ask it over HTTP. Everything answered is on disk."""
    require("fastapi", extra="serve", purpose="Serving")
    folders = list(learn or [])
    model = model or _model_here()
    if model.is_dir():
        folders, model = [str(model.resolve()), *folders], model.resolve().with_suffix(".anacp")
    empty = None
    if not model.exists():
        encoder = encoders.Encoder(backbone or BACKBONES[texts], remote_code=remote_code)
        empty = methods.Classifier(encoder, learner or "AnaCP")
    elif backbone or learner or texts:
        raise ParameterError(
            f"Expected --backbone, --learner and --texts for a new model only, got {model}. Leave them out."
        )
    if replicas is not None and on is None:
        raise ParameterError("Expected --cluster with --replicas, got none. Say on which cluster they answer: auto.")
    photos = _label_studio(label_studio, label_studio_token_file)
    listening = serving.bound(host, port)
    needs_token = host not in serving.LOOPBACK or token_file is not None
    limits = serving.Limits(a_second=(50.0 if needs_token else 0.0) if rate is None else rate)
    with listening, serving.Service(model, empty) as service, ExitStack() as ending:
        for folder in folders:
            service.worker.add(str(Path(folder).resolve()))
        token = _token(token_file, service) if needs_token else None
        app = serving.create_app(service, limits, hosts=(host, *(allow_host or ())), token=token, label_studio=photos)
        address = serving.address_of(listening)

        shared: dict[str, Any] = {"limits": limits, "hosts": tuple(allow_host or ()), "token": token}
        answering = None
        if on is not None:
            nodes = ending.enter_context(cluster.connected(on))
            copies = serving.replicated(service, nodes, replicas or 2, host=host, port=replica_port, **shared)
            answering = ending.enter_context(copies)

        def ready() -> None:
            say(f"{model}: teach and ask at {address} (Ctrl-C ends)")
            if answering is not None:
                say(f"{replicas or 2} copies answer /v1/predict at {answering}, and follow what is taught here")
            if open_page:
                threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()

        serving.run(app, listening, ready=ready)


def _model_here() -> Path:
    """Return the model file of this folder, or a new one if there is none."""
    found = sorted(Path().glob("*.anacp"))
    if len(found) > 1:
        names = ", ".join(map(str, found[:5]))
        raise ParameterError(f"Expected one model in this folder, got {len(found)}: {names}. Name the one to serve.")
    return found[0] if found else Path("my.anacp")


def _label_studio(address: str | None, token_file: Path | None) -> serving.LabelStudio | None:
    """Return where photos of Label Studio's tasks are fetched, if somewhere."""
    if address is None and token_file is not None:
        raise ParameterError("Expected --label-studio with --label-studio-token-file, got none. Give its address.")
    if address is None:
        return None
    return serving.LabelStudio(address, token_file.read_text().strip() if token_file else None)


def _token(file: Path | None, service: serving.Service) -> str:
    """Return the hash of the token: of the one in a file, of the one that was made here before, or of a new one."""
    if file is not None:
        token = file.read_text().strip()
        if len(token) < SHORTEST_TOKEN:
            raise InputError(
                f"Expected a token of {SHORTEST_TOKEN} characters or more in {file}, got {len(token)}. Make it longer."
            )
        return serving.hashed(token)
    kept = service.journal.fact("token")
    if kept is not None:
        say("The token is the one that was printed when this model was served to others first.")
        return kept
    token = secrets.token_urlsafe(32)
    service.journal.state("token", serving.hashed(token))
    say(f"Clients must show this token, which is not printed again: {token}")
    return serving.hashed(token)
