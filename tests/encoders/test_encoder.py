"""An encoder is one value: what it is made of, what it is known by, and how a model file keeps it."""

import json

import numpy as np
import pytest

from anacp.adaptation import Adaptation, adapt
from anacp.encoders import Encoder, FeatureStore, Origin
from anacp.errors import MismatchError, NotLearnedError, ParameterError, UnknownNameError
from tests.adaptation.models import TINY, examples
from tests.backbones.models import needs_minilm
from tests.backbones.test_backbone import small

pytest.importorskip("transformers")


@pytest.fixture(scope="module")
def frozen(transformer):
    return transformer("bert")


@pytest.fixture(scope="module")
def adaptation(frozen) -> Adaptation:
    return adapt(frozen, *examples("text"), recipe=TINY)


TEXTS = examples("text", 7, seed=5)[0]


def test_frozen_adapted_and_both_side_by_side(frozen, adaptation, tmp_path) -> None:
    plain, adapted = Encoder(frozen), Encoder(frozen, adaptation=adaptation)
    both = Encoder(frozen, adaptation=adaptation, concatenate=True)
    assert (len(plain.parts), len(adapted.parts), len(both.parts)) == (1, 1, 2)
    assert (plain.n_features, adapted.n_features, both.n_features) == (24, 24, 48)
    assert len({plain.fingerprint, adapted.fingerprint, both.fingerprint}) == 3
    assert {one.modality for one in (plain, adapted, both)} == {"text"}
    np.testing.assert_array_equal(adapted.encode(TEXTS).x, adaptation.apply(frozen).encode(TEXTS))
    side_by_side = np.hstack([plain.encode(TEXTS).x, adapted.encode(TEXTS).x])
    np.testing.assert_array_equal(both.encode(TEXTS).x, side_by_side)
    store = FeatureStore(tmp_path)
    plain.encode(TEXTS[:5], store=store)  # the frozen part of some rows is known: only the rest is computed
    np.testing.assert_array_equal(both.encode(TEXTS, store=store).x, side_by_side)
    assert sorted(entry.n_rows for entry in store.entries()) == [7, 7]
    assert both.backbone is plain.backbone is frozen


def test_layers_of_frozen_and_adapted(frozen, adaptation) -> None:
    both = Encoder(frozen, adaptation=adaptation, concatenate=True, layers=[0, -1])
    assert both.n_features == 4 * 24
    expected = np.hstack([part.with_layers([0, 1]).encode(TEXTS) for part in (frozen, adaptation.apply(frozen))])
    np.testing.assert_array_equal(both.encode(TEXTS).x, expected)
    plain = Encoder(frozen, adaptation=adaptation, concatenate=True)
    assert both.fingerprint != plain.fingerprint
    assert Encoder(frozen, layers=[1]).fingerprint == Encoder(frozen).fingerprint


@pytest.mark.parametrize("layers", [None, [0], [-1, 0]])
@pytest.mark.parametrize("concatenate", [None, False, True])
def test_kept_and_restored(frozen, adaptation, layers, concatenate) -> None:
    given = {"layers": layers} | ({} if concatenate is None else {"adaptation": adaptation, "concatenate": concatenate})
    encoder = Encoder(frozen, **given)
    header, tensors = encoder.contents()
    header = json.loads(json.dumps(header))
    assert ("layers" in header["backbone"]) == (layers is not None)
    assert header["backbone"].get("scaled", False) == (layers == [-1, 0])
    for known in (frozen, frozen.preset.name, None):
        restored = Encoder.restored(header | {"more": 1}, tensors | {"more": 1}, backbone=known, engine="torch")
        assert restored.origin == encoder.origin
        assert restored.contents()[0] == encoder.contents()[0]
        np.testing.assert_array_equal(restored.encode(TEXTS).x, encoder.encode(TEXTS).x)


def test_layers_as_files_had_them_before_they_were_scaled(frozen) -> None:
    before = Encoder(frozen, layers=[0, -1], scaled=False)
    header, tensors = before.contents()
    assert "scaled" not in header["backbone"]
    again = Encoder.restored(json.loads(json.dumps(header)), tensors, backbone=frozen)
    assert again.fingerprint == before.fingerprint != Encoder(frozen, layers=[0, -1]).fingerprint
    layers = [frozen.with_layers([number]).encode(TEXTS) for number in (0, 1)]
    np.testing.assert_array_equal(again.encode(TEXTS).x, np.hstack(layers))


def test_layers_of_several_encoders_are_stored_once(frozen, tmp_path) -> None:
    store = FeatureStore(tmp_path)
    for layers in ([0, 1], [1, 0], [0]):
        encoder = Encoder(frozen, layers=layers)
        np.testing.assert_array_equal(encoder.encode(TEXTS, store=store).x, encoder.encode(TEXTS).x)
    assert [(entry.card.layers, entry.n_rows) for entry in store.entries()] == [((-2, -1), 7)]


def test_what_is_still_to_be_chosen_has_no_features(frozen) -> None:
    encoder = Encoder(frozen, layers="auto")
    assert (encoder.undecided, encoder.modality, encoder.name) == (True, "text", frozen.preset.name)
    for ask in (lambda: encoder.origin, lambda: encoder.encode(TEXTS), encoder.contents):
        with pytest.raises(NotLearnedError, match="before anything was learned"):
            ask()
    assert Encoder(frozen.with_layers([0, 1]), layers="last").fingerprint == frozen.fingerprint


def test_restored_with_the_adapted_backbone_itself(frozen, adaptation) -> None:
    adapted = adaptation.apply(frozen)
    encoder = Encoder(frozen, adaptation=adaptation)
    restored = Encoder.restored(*encoder.contents(), backbone=adapted)
    np.testing.assert_array_equal(restored.encode(TEXTS).x, encoder.encode(TEXTS).x)
    assert restored.contents()[0] == encoder.contents()[0]
    assert restored.contents()[1].keys() == encoder.contents()[1].keys()
    by_hand = Encoder(adapted)  # its file cannot adapt anything again: it needs this backbone
    assert by_hand.fingerprint == encoder.fingerprint
    again = Encoder.restored(*by_hand.contents(), backbone=adapted)
    np.testing.assert_array_equal(again.encode(TEXTS).x, restored.encode(TEXTS).x)
    with pytest.raises(MismatchError, match="Give the adapted backbone itself"):
        Encoder.restored(*by_hand.contents(), backbone=frozen)


def test_another_backbone_is_refused(frozen, adaptation, transformer) -> None:
    other = transformer("vit")
    for encoder in (Encoder(frozen), Encoder(frozen, adaptation=adaptation)):
        with pytest.raises(MismatchError, match="Expected the backbone that the model was learned with"):
            Encoder.restored(*encoder.contents(), backbone=other)
    with pytest.raises(MismatchError, match=r"with_layers\(\[-2\]\)"):
        Encoder(frozen, origin=Encoder(frozen, layers=[0]).origin)
    with pytest.raises(MismatchError, match="Use the backbone that was adapted"):
        Encoder(other, adaptation=adaptation)
    with pytest.raises(MismatchError, match="weights or their preprocessing have changed"):
        Origin.of(small()).check(Origin.of(small(pooling="class token")))
    with pytest.raises(ParameterError, match="Expected an adaptation"):
        Encoder(frozen, concatenate=True)


def test_a_name_is_checked_at_once_and_loaded_late(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'minilm-l6'"):
        Encoder("minilm-16")
    monkeypatch.setattr("anacp.encoders.encoder.load_backbone", lambda *_, **__: pytest.fail("loaded"))
    origin = Origin("dinov2-large", "0" * 32, "image", 1024)
    encoder = Encoder("dinov2-large", origin=origin)  # too large to be here: what it says does not need it
    assert (encoder.origin, encoder.n_features, encoder.modality) == (origin, 1024, "image")
    assert encoder.contents() == ({"backbone": origin.header()}, {})
    assert "dinov2-large" in repr(encoder)
    assert encoder.digests([]) == []


@needs_minilm
def test_encoders_of_a_process_share_a_loaded_backbone() -> None:
    assert Encoder("minilm-l6").backbone is Encoder("minilm-l6", layers=[0]).backbone
