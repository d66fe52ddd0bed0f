"""Networks that were exported and compared with torch: which file belongs to which fingerprint, and features from it.

Importing torch and building a network takes seconds, running it on a picture milliseconds. A note says that a file
computes what a backbone of some identity does. Where there is none, or anything differs from it, torch is asked.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anacp.backbones.identity import Identity
from anacp.backbones.inputs import ImageReader, PlainTokenizer, Reader, TextReader
from anacp.backbones.preprocessing import ImagePreprocessing, TextPreprocessing
from anacp.backbones.presets import PRESETS
from anacp.backbones.seen import hash_of_files, remembered_hash
from anacp.backbones.sources import Source, source_of
from anacp.backbones.views import LayerView
from anacp.errors import NumericalError
from anacp.files import home, read_json, replacing
from anacp.items import Modality


@dataclass(frozen=True)
class LoadedFrom:
    """What a backbone was loaded from: a hash of its files, and the folder of a transformers model."""

    files: str
    folder: str | None


class OnnxEngine:
    """An exported network in onnxruntime, with as many threads as torch would use.

    Parameters
    ----------
    path : Path
        The file.
    expected : str, optional
        Its digest: a file of another one is refused with a `ValueError`, before anything is made of it.
    """

    name = "onnx"
    batch_size = 8  # as fast as 32, in less memory

    def __init__(self, path: Path, expected: str | None = None) -> None:
        import onnxruntime

        content = path.read_bytes()  # once: what is hashed is what runs
        self.path, self.digest = path, hashlib.blake2b(content, digest_size=16).hexdigest()
        if expected not in (None, self.digest):
            raise ValueError(f"{path} is not the file that was compared with torch")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = _threads()
        options.log_severity_level = 3  # errors only
        self._session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])

    @property
    def n_features(self) -> int | str:
        """How many numbers a row has; a text where that is left open."""
        width: int | str = self._session.get_outputs()[0].shape[-1]
        return width

    def run(self, arrays: Mapping[str, NDArray[Any]]) -> NDArray[np.float32]:
        """Return the features of one batch."""
        return np.asarray(self._session.run(None, dict(arrays))[0], np.float32)


@dataclass(frozen=True)
class ExportedBackbone:
    """A backbone of which only the exported copy is loaded: it encodes, and can do nothing else."""

    name: str
    modality: Modality
    n_features: int
    reader: Reader
    engine: OnnxEngine
    view: LayerView | None = None

    @property
    def batch_size(self) -> int:
        """How many inputs run together."""
        return min(self.reader.batch_size, self.engine.batch_size)

    def compute(self, arrays: Mapping[str, NDArray[Any]]) -> NDArray[np.float32]:
        """Return all that is computed of what `reader` made of some inputs; `view` has the features of it."""
        return finite(self.engine.run(arrays), self.name, "cpu")


def exported_backbone(name: str, fingerprint: str, modality: Modality, n_features: int) -> ExportedBackbone | None:
    """Return the backbone that a model file names and was learned with, from its exported copy; None to ask torch.

    As for `known_backbone`, the files that the network was loaded from must be those that were seen here under this
    name; and they must be those that the copy was exported from.
    """
    try:
        noted = read_json(_note(fingerprint))
        identity, files, file = Identity.restored(noted["identity"]), noted["files"], noted["file"]
        source = source_of(name)
        if identity.fingerprint != fingerprint or noted["runtime"] != _runtime() or Path(file).name != file:
            return None
        if not source.files or not files == remembered_hash(source.name) == hash_of_files(source.files):
            return None
        reader = _reader(identity, source, plain=noted["plain_tokenizer"])
        if reader is None:
            return None
        engine = OnnxEngine(home() / "onnx" / file, expected=str(noted["digest"]))
        view = LayerView.restored(noted["view"]) if noted.get("view") else None
        if engine.n_features != (n_features if view is None else noted["computed"]):
            return None
        if view is not None and view.n_features != n_features:
            return None
        return ExportedBackbone(name, modality, n_features, reader, engine, view)
    except Exception:  # a note that is none, a package that is not here: whatever it is, torch can say it better
        return None


def note_export(
    identity: Identity, engine: OnnxEngine, source: LoadedFrom, reader: Reader, view: LayerView | None
) -> None:
    """Note that a file, just compared with torch, computes what a backbone does that was loaded from some files."""
    noted = {
        "identity": asdict(identity),
        "files": source.files,
        "file": engine.path.name,
        "digest": engine.digest,
        "runtime": _runtime(),
        "plain_tokenizer": isinstance(reader, TextReader) and reader.is_plain(source.folder),
        "view": asdict(view) if view else None,
        "computed": engine.n_features,
    }
    place, text = _note(identity.fingerprint), json.dumps(noted, indent=1)
    with suppress(OSError):  # where nothing can be kept, torch is asked the next time too
        if not place.is_file() or place.read_text() != text:
            with replacing(place) as temporary:
                temporary.write_text(text)


def finite(x: NDArray[np.float32], name: str, device: str) -> NDArray[np.float32]:
    """Return features, or say that they are not finite."""
    if not np.isfinite(x).all():
        raise NumericalError(
            f"Expected finite features, got NaN or infinity from {name} on {device}. "
            "Half precision may overflow there: use device='cpu'."
        )
    return x


def _reader(identity: Identity, source: Source, *, plain: bool) -> Reader | None:
    preprocessing = identity.preprocessing
    if isinstance(preprocessing, ImagePreprocessing):
        return ImageReader(preprocessing)
    if isinstance(preprocessing, TextPreprocessing) and plain and source.folder:
        language = PRESETS[identity.backbone].language if identity.backbone in PRESETS else None
        return TextReader(PlainTokenizer(source.folder), preprocessing.max_tokens, language)
    return None


def _note(fingerprint: str) -> Path:
    if not fingerprint.isalnum():
        raise ValueError("no fingerprint")
    return home() / "onnx" / f"{fingerprint}.json"


def _runtime() -> str:
    """Return what computed the copy's features: another version or machine must compare anew."""
    import onnxruntime

    return f"onnxruntime {onnxruntime.__version__} on {platform.machine()}"


def _threads() -> int:
    """Return how many threads torch uses or, where it is not imported, would use; 0 stands for one a core."""
    if "torch" in sys.modules:
        return int(sys.modules["torch"].get_num_threads())
    stated = os.environ.get("OMP_NUM_THREADS", "")
    return int(stated) if stated.isdigit() else 0
