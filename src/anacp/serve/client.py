"""A thin client: what the service does, as methods; needs nothing but Python."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Mapping, Sequence
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlencode
from urllib.request import ProxyHandler, Request, build_opener

from anacp.errors import AnacpError
from anacp.files import read_regular

Photo = Path | bytes
Answer = dict[str, Any]


class ServiceError(AnacpError):
    """What a service refused, or that it did not answer.

    Attributes
    ----------
    status : int
        Of HTTP; 0 if there was no answer.
    code : str
        For programs.
    """

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.code = status, code


class Client:
    """A service that runs somewhere, see `anacp serve`.

    Every answer is what the service sent; its "version" can be given to the next change as `version`, which then is
    refused with status 412 if somebody else has taught the model since.

    Parameters
    ----------
    address : str
        Such as "http://127.0.0.1:8000".
    token : str, optional
        If the service asks for one.
    seconds : float
        How long to wait for an answer.

    Examples
    --------
    >>> from anacp.serve import Client
    >>> client = Client("http://127.0.0.1:8000")
    >>> client.learn(["will it rain?"], "weather")["new"]
    1
    """

    def __init__(
        self, address: str = "http://127.0.0.1:8000", *, token: str | None = None, seconds: float = 60.0
    ) -> None:
        self._address, self._token, self._seconds = address.rstrip("/"), token, seconds
        self._opener = build_opener(ProxyHandler({}))

    # Teaching -----------------------------------------------------------------------------------------------------

    def learn(self, inputs: Iterable[str] | Iterable[Photo], label: str, *, version: int | None = None) -> Answer:
        """Learn texts, or photos as paths or bytes, as a class."""
        return self._send("POST", "/v1/learn", inputs, {"label": label}, version)

    def forget(
        self, inputs: Iterable[str] | Iterable[Photo] = (), *, ids: Sequence[str] = (), version: int | None = None
    ) -> Answer:
        """Forget examples, by their content or their ids."""
        if ids:
            return self._json("POST", "/v1/forget", {"ids": list(ids)}, version)
        return self._send("POST", "/v1/forget", inputs, {}, version)

    def relabel(self, ids: Sequence[str], label: str, *, version: int | None = None) -> Answer:
        """Move examples into a class."""
        return self._json("POST", "/v1/relabel", {"ids": list(ids), "label": label}, version)

    def rename(self, old: str, new: str, *, version: int | None = None) -> Answer:
        """Give a class another name."""
        return self._json("POST", "/v1/classes/rename", {"old": old, "new": new}, version)

    def join(self, labels: Sequence[str], into: str, *, version: int | None = None) -> Answer:
        """Make classes one."""
        return self._json("POST", "/v1/classes/join", {"labels": list(labels), "into": into}, version)

    def delete_class(self, label: str, *, version: int | None = None) -> Answer:
        """Forget all examples of a class."""
        return self._json("POST", "/v1/classes/delete", {"label": label}, version)

    def undo(self, steps: int = 1, *, version: int | None = None) -> Answer:
        """Take the last changes back."""
        return self._json("POST", "/v1/undo", {"steps": steps}, version)

    def redo(self, steps: int = 1, *, version: int | None = None) -> Answer:
        """Make changes again that were taken back."""
        return self._json("POST", "/v1/redo", {"steps": steps}, version)

    # Asking -------------------------------------------------------------------------------------------------------

    def predict(
        self,
        inputs: Iterable[str] | Iterable[Photo],
        *,
        k: int = 5,
        unknown: bool = True,
        keep: float = 0.95,
        after: int = 0,
        early: bool = False,
    ) -> Answer:
        """Ask what texts or photos are; `after` waits until that version answers, `early` not for probabilities."""
        asked = urlencode({"k": k, "unknown": int(unknown), "keep": keep, "after": after, "early": int(early)})
        return self._send("POST", f"/v1/predict?{asked}", inputs, {}, None)

    def model(self) -> Answer:
        """Return what the model is."""
        return self._json("GET", "/v1/model")

    def classes(self) -> list[Answer]:
        """Return what is to be expected of each class."""
        found: list[Answer] = self._json("GET", "/v1/classes")["classes"]
        return found

    def examples(self, label: str | None = None, *, offset: int = 0, limit: int = 50) -> Answer:
        """Return examples, the latest first."""
        named = {} if label is None else {"label": label}
        return self._json("GET", f"/v1/examples?{urlencode({**named, 'offset': offset, 'limit': limit})}")

    def history(self, limit: int = 50) -> list[Answer]:
        """Return the changes, the latest first."""
        found: list[Answer] = self._json("GET", f"/v1/history?limit={limit}")["events"]
        return found

    def accuracy(self) -> Answer:
        """Return how many examples the others recognise."""
        return self._json("GET", "/v1/accuracy")

    def export(self, path: str | Path, *, kind: str = "model") -> Path:
        """Write the model, its ONNX graph ("onnx") or a page ("report") to a file."""
        path = Path(path)
        path.write_bytes(self._answer("GET", f"/v1/export?as={quote(kind)}", None, {}))
        return path

    # Sending ------------------------------------------------------------------------------------------------------

    def _send(
        self, method: str, path: str, inputs: Iterable[Any], fields: Mapping[str, str], version: int | None
    ) -> Answer:
        given = list(inputs)
        if all(isinstance(one, str) for one in given):
            return self._json(method, path, {"texts": given, **fields}, version)
        border = secrets.token_hex(16)
        parts = [_part(border, f'name="{name}"', value.encode()) for name, value in fields.items()]
        for place, one in enumerate(given, 1):
            content = one if isinstance(one, bytes) else read_regular(one)
            name = f"photo {place}" if isinstance(one, bytes) else Path(one).name
            parts.append(_part(border, f'name="files"; filename="{quote(name)}"', content))
        body = b"".join(parts) + f"--{border}--\r\n".encode()
        headers = {"Content-Type": f"multipart/form-data; boundary={border}", **_match(version)}
        found: Answer = json.loads(self._answer(method, path, body, headers))
        return found

    def _json(self, method: str, path: str, body: Answer | None = None, version: int | None = None) -> Answer:
        headers = {"Content-Type": "application/json", **_match(version)}
        found: Answer = json.loads(
            self._answer(method, path, None if body is None else json.dumps(body).encode(), headers)
        )
        return found

    def _answer(self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]) -> bytes:
        shown = {} if self._token is None else {"Authorization": f"Bearer {self._token}"}
        request = Request(self._address + path, body, {**headers, **shown}, method=method)
        try:
            with self._opener.open(request, timeout=self._seconds) as answer:
                content: bytes = answer.read()
                return content
        except HTTPError as problem:
            raise _refused(problem) from problem
        except (URLError, OSError, HTTPException) as problem:  # gone, perhaps in the middle of an answer
            raise ServiceError(
                0, "no_answer", f"Expected a service at {self._address}, got no answer: {problem}. Start `anacp serve`."
            ) from problem


def _match(version: int | None) -> dict[str, str]:
    return {} if version is None else {"If-Match": f'"{version}"'}


def _part(border: str, disposition: str, content: bytes) -> bytes:
    return f"--{border}\r\nContent-Disposition: form-data; {disposition}\r\n\r\n".encode() + content + b"\r\n"


def _refused(problem: HTTPError) -> ServiceError:
    with problem:
        body = problem.read()
    try:
        said = json.loads(body)["error"]
        return ServiceError(problem.code, said["code"], f"{said['message']} {said['advice']}".strip())
    except (ValueError, KeyError, TypeError):
        return ServiceError(problem.code, "http", f"Expected an answer, got status {problem.code}. Check the address.")
