"""DINO-v2, MoCo-v3 and any other transformers encoder, on small models of the same architecture."""

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional

from anacp.backbones import PRESETS, TextPreprocessing, backbone
from anacp.backbones.moco import vit_from_checkpoint
from anacp.errors import MismatchError, ModelFileError, UnavailableError
from tests.adaptation.models import tiny
from tests.backbones.models import dinov2_folder, moco_checkpoint, pictures

pytest.importorskip("transformers")


@pytest.fixture
def weights(tmp_path, monkeypatch: pytest.MonkeyPatch):
    """An ANACP_HOME whose weights folder a test may fill."""
    monkeypatch.setenv("ANACP_HOME", str(tmp_path))
    (tmp_path / "weights").mkdir()
    return tmp_path / "weights"


def timm_forward(state: dict[str, Tensor], x: Tensor, n_heads: int = 12) -> Tensor:
    """The ViT of MoCo-v3 in plain tensor operations, on timm's names: CLS token after the last norm."""
    patches = functional.conv2d(x, state["patch_embed.proj.weight"], state["patch_embed.proj.bias"], stride=16)
    tokens = patches.flatten(2).mT  # (n, t, d)
    h = torch.cat([state["cls_token"].expand(len(x), -1, -1), tokens], 1) + state["pos_embed"]
    n, t, d = h.shape

    def norm(h: Tensor, name: str) -> Tensor:
        centred = h - h.mean(-1, keepdim=True)
        scaled = centred / (centred.square().mean(-1, keepdim=True) + 1e-6).sqrt()
        return scaled * state[f"{name}.weight"] + state[f"{name}.bias"]

    for block in range(len({name.split(".")[1] for name in state if name.startswith("blocks.")})):

        def linear(h: Tensor, name: str, block: int = block) -> Tensor:
            return h @ state[f"blocks.{block}.{name}.weight"].mT + state[f"blocks.{block}.{name}.bias"]

        qkv = linear(norm(h, f"blocks.{block}.norm1"), "attn.qkv").reshape(n, t, 3, n_heads, d // n_heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        attention = (q @ k.mT / (d // n_heads) ** 0.5).softmax(-1)
        h = h + linear((attention @ v).transpose(1, 2).reshape(n, t, d), "attn.proj")
        inner = linear(norm(h, f"blocks.{block}.norm2"), "mlp.fc1")
        h = h + linear(inner * 0.5 * (1 + torch.erf(inner / 2**0.5)), "mlp.fc2")
    return norm(h, "norm")[:, 0]


def layouts(state: dict[str, Tensor]) -> dict[str, dict]:
    other = {f"module.momentum_encoder.{name}": tensor + 1 for name, tensor in state.items()}
    base = {f"module.base_encoder.{name}": tensor for name, tensor in state.items()}
    return {
        "state_dict": {"epoch": 300, "arch": "vit_base", "state_dict": other | base},
        "model": {"model": {f"module.{name}": tensor for name, tensor in state.items()}},
        "model, prefixed": {"model": base},
        "model, plain names": {"model": state},
    }


@pytest.mark.parametrize("layout", ["state_dict", "model", "model, prefixed", "model, plain names"])
def test_moco_checkpoint_gives_the_same_features(tmp_path, layout: str) -> None:
    state = moco_checkpoint(side=2)
    torch.save(layouts(state)[layout], tmp_path / "checkpoint.pth")
    network = vit_from_checkpoint(tmp_path / "checkpoint.pth")
    x = torch.randn(3, 3, 32, 32, generator=torch.Generator().manual_seed(1))
    with torch.inference_mode():
        seen = network(pixel_values=x).last_hidden_state[:, 0]
    torch.testing.assert_close(seen, timm_forward(state, x), atol=1e-4, rtol=1e-4)


def test_moco_preset(weights) -> None:
    with pytest.raises(UnavailableError, match=r"download https://\S+vit-b-300ep.pth.tar and put it there") as caught:
        backbone("mocov3-base")
    assert str(weights / "mocov3-base.pth") in str(caught.value)
    state = moco_checkpoint(width=768, depth=1)
    torch.save(layouts(state)["state_dict"], weights / "vit-b-300ep.pth.tar")
    first = backbone("mocov3-base", engine="torch")
    torch.save(layouts(state)["model"], weights / "mocov3-base.pth")
    second = backbone("mocov3-base")
    assert first.fingerprint == second.fingerprint  # the same weights, however they are wrapped
    images = pictures(2)
    x = torch.from_numpy(np.stack([first.preset.preprocessing(image) for image in images]))
    expected = timm_forward(state, x).numpy()
    assert second.engine == "onnx"
    for loaded in (first, second):
        np.testing.assert_allclose(loaded.encode(images), expected, atol=1e-3, rtol=1e-3)
    (weights / "mocov3-base.pth").unlink()
    torch.save({"state_dict": {"fc.weight": torch.ones(2)}}, weights / "mocov3-base.pth")
    with pytest.raises(ModelFileError, match=r"fc.weight"):
        backbone("mocov3-base")


def test_dinov2_by_folder_and_by_preset(weights) -> None:
    from transformers import AutoModel

    folder = dinov2_folder(weights / "dinov2-small", hidden_size=384)
    by_preset, by_folder = backbone("dinov2-small"), backbone(f"hf:{folder}")
    images = pictures(3)
    x = torch.from_numpy(np.stack([PRESETS["dinov2-small"].preprocessing(image) for image in images]))
    with torch.inference_mode():
        expected = AutoModel.from_pretrained(folder).eval()(pixel_values=x).last_hidden_state[:, 0]
    for loaded in (by_preset, by_folder):
        assert (loaded.n_features, loaded.modality, loaded.engine) == (384, "image", "onnx")
        np.testing.assert_allclose(loaded.encode(images), expected, atol=1e-3)
    assert by_folder.preset.pooling == "class token"
    assert "256" in by_folder.preset.preprocessing.settings
    folder.rename(weights / "dinov2-base")
    assert backbone(f"hf:{weights / 'dinov2-base'}").fingerprint == by_folder.fingerprint
    with pytest.raises(MismatchError, match=r"Expected 768 features from 'dinov2-base', got 384"):
        backbone("dinov2-base")


def test_folder_without_image_processor(tmp_path) -> None:
    loaded = backbone(f"hf:{dinov2_folder(tmp_path / 'bare', processor=False)}", engine="torch")
    assert loaded.preset.preprocessing.crop == 70
    assert loaded.encode(pictures(2)).shape == (2, 32)


def test_convolutional_network(tmp_path) -> None:
    from transformers import ResNetConfig, ResNetModel

    config = ResNetConfig(embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1], layer_type="basic")
    ResNetModel(config).save_pretrained(tmp_path)
    loaded = backbone(f"hf:{tmp_path}")
    assert loaded.preset.pooling == "mean over pixels"
    assert loaded.encode(pictures(2)).shape == (2, 16)


@pytest.mark.parametrize(("family", "pooling"), [("CLIP", "class token"), ("Siglip", "mean over tokens")])
def test_vision_encoders_of_other_families(tmp_path, family: str, pooling: str) -> None:
    import transformers

    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1, "num_attention_heads": 4}
    config = getattr(transformers, f"{family}VisionConfig")(**sizes, image_size=32, patch_size=8)
    getattr(transformers, f"{family}VisionModel")(config).save_pretrained(tmp_path)
    loaded = backbone(f"hf:{tmp_path}")
    assert (loaded.preset.pooling, loaded.n_features) == (pooling, 32)
    assert loaded.encode(pictures(2)).shape == (2, 32)
    assert backbone(f"hf:{tmp_path}").fingerprint == loaded.fingerprint


def test_text_encoder(tmp_path) -> None:
    loaded = tiny("bert", tmp_path, "auto")
    assert (loaded.modality, loaded.n_features, loaded.engine) == ("text", 24, "onnx")
    assert loaded.preset.preprocessing == TextPreprocessing(max_tokens=16)
    texts = ["the red house", "car", "", "the " * 50]
    alone = np.concatenate([loaded.encode([text]) for text in texts])
    np.testing.assert_array_equal(loaded.encode(texts), alone)  # no text moves a bit of another
    padded = loaded.run(loaded.reader.read(texts))  # as training reads them
    np.testing.assert_allclose(padded, alone, atol=1e-5)


def test_incomplete_weights_are_refused(tmp_path) -> None:
    from safetensors.torch import load_file, save_file

    folder = dinov2_folder(tmp_path / "holes")
    tensors = load_file(folder / "model.safetensors")
    del tensors["layernorm.weight"]
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(ModelFileError, match=r"layernorm.weight"):
        backbone(f"hf:{folder}")


def test_missing_weights_say_where_to_put_them(weights, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(UnavailableError, match=r"download facebook/dinov2-base into") as caught:
        backbone("dinov2-base")
    assert str(weights / "dinov2-base") in str(caught.value)
    with pytest.raises(UnavailableError, match="download nobody/nothing and give hf:FOLDER"):
        backbone("hf:nobody/nothing")
