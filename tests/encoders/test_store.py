"""The feature store: shards that are whole or not there, whatever happens to them and around them."""

import json
import os
import random
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from anacp.encoders import Encoder, FeatureEntry, FeatureStore
from anacp.encoders.stored import SHARD, Shard
from anacp.errors import FeatureStoreError
from anacp.files import TensorFile, write_tensors
from tests.backbones.test_backbone import small
from tests.encoders.counting import Counting
from tests.files.mutations import mutated


@pytest.fixture
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anacp.encoders.stored.ROWS_PER_SHARD", 4)


def only_entry(store: FeatureStore) -> FeatureEntry:
    (entry,) = store.entries()
    return entry


def shards(entry: FeatureEntry) -> list[Path]:
    return sorted(entry.folder.glob("*.safetensors"))


def digest(number: int) -> bytes:
    return number.to_bytes(16, "big")


def test_another_network_is_another_entry(files, store) -> None:
    backbone = small()
    adapted = backbone.with_module(backbone.module(), "adapted")
    for one in (backbone, adapted, small("onnx")):  # the engine makes no difference
        Encoder(one).encode(files, store=store)
    assert {entry.key for entry in store.entries()} == {backbone.fingerprint, adapted.fingerprint}
    assert {entry.card.adaptation for entry in store.entries()} == {None, "adapted"}


def test_the_card_is_readable(files, store) -> None:
    Encoder(small()).encode(files, store=store)
    entry = only_entry(store)
    card = json.loads((entry.folder / "card.json").read_text())
    assert (card["backbone"], card["adaptation"], card["n_features"], card["layers"]) == ("small", None, 6, [-1])
    assert card["written_by"].startswith("anacp ")
    assert entry.problems() == []
    assert (entry.n_rows, entry.key) == (20, small().fingerprint)
    assert 20 * 6 * 4 < entry.n_bytes < 10_000
    assert 0 <= entry.age_days < 1


def test_nothing_to_keep_leaves_nothing(store, files) -> None:
    Encoder(small()).encode([], store=store)
    Encoder(small()).encode(files, store=store, wanted=lambda *_: False)
    assert store.entries() == []


@pytest.mark.usefixtures("small_shards")
def test_rows_come_back_by_digest(store) -> None:
    x = np.random.default_rng(0).normal(size=(10, 6)).astype(np.float32)
    features = store.features(small())
    for number in range(10):
        features.add(digest(number), x[number], seconds=number)
    assert len(shards(only_entry(store))) == 2  # two are not full, and wait
    np.testing.assert_array_equal(features.get(digest(9)), x[9])
    features.flush()
    for again in (features, store.features(small())):
        for number in range(10):
            np.testing.assert_array_equal(again.get(digest(number)), x[number])
        assert again.get(digest(10)) is None
        assert again.seconds(digest(0)) == (0 + 1 + 2 + 3) / 4
        assert len(again) == 10


@pytest.mark.usefixtures("small_shards")
def test_several_add_at_once(store) -> None:
    """As processes would: each has its own view, some rows are the same."""
    x, backbone = np.random.default_rng(0).normal(size=(40, 6)).astype(np.float32), small()

    def add(start: int) -> None:
        features = store.features(backbone)
        for number in range(start, start + 20):
            features.add(digest(number), x[number])
        features.flush()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(add, [0, 10, 20, 0]))
    assert only_entry(store).problems() == []
    features = store.features(backbone)
    assert len(features) == 40
    np.testing.assert_array_equal([features.get(digest(number)) for number in range(40)], x)


DAMAGE = {
    "a bit": lambda content: content[:-1] + bytes([content[-1] ^ 1]),
    "cut": lambda content: content[:-4],
    "empty": lambda content: b"",
    "foreign": lambda content: b"not a shard at all",
}


@pytest.mark.usefixtures("small_shards")
@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_shard_is_computed_again(kind: str, files, store) -> None:
    counting = Counting()
    expected = counting.encoder.encode(files, store=store).x
    entry = only_entry(store)
    assert len(shards(entry)) == 5
    damaged = shards(entry)[2]
    damaged.write_bytes(DAMAGE[kind](damaged.read_bytes()))
    (problem,) = entry.problems()
    assert str(damaged) in problem
    np.testing.assert_array_equal(counting.encoder.encode(files, store=store).x, expected)
    assert counting.rows == 20 + 4
    assert entry.problems() == []
    assert entry.n_rows == 20
    np.testing.assert_array_equal(counting.encoder.encode(files, store=store).x, expected)
    assert counting.rows == 20 + 4


@pytest.mark.parametrize("kind", ["another network", "a row too few", "not finite"])
def test_a_whole_shard_that_does_not_belong_is_not_used(kind: str, files, store) -> None:
    from anacp.encoders.stored import Shard

    encoder = Encoder(small())
    expected = encoder.encode(files, store=store)
    entry = only_entry(store)
    shards(entry)[0].unlink()
    x = expected.x + 1
    if kind == "not finite":
        x[0, 0] = np.nan
    fingerprint = "0" * 32 if kind == "another network" else encoder.fingerprint
    Shard.write(entry.folder, fingerprint, expected.digests, x[kind == "a row too few" :], 0.0)
    assert len(entry.problems()) == 1
    np.testing.assert_array_equal(encoder.encode(files, store=store).x, expected.x)
    assert entry.problems() == []


def test_cards_that_are_damaged_old_or_newer(files, store) -> None:
    counting = Counting()
    counting.encoder.encode(files, store=store)
    entry = only_entry(store)
    path = entry.folder / "card.json"
    whole = json.loads(path.read_text())
    path.write_text("{")
    with pytest.raises(FeatureStoreError, match="readable card"):
        entry.card  # noqa: B018
    counting.encoder.encode(files, store=store)
    assert counting.rows == 20  # the shards say themselves what they are
    assert entry.problems() == []
    path.write_text(json.dumps(whole | {"card_version": 99}))
    assert "Upgrade anacp" in entry.problems()[0]
    with pytest.raises(FeatureStoreError, match="Upgrade anacp"):
        counting.encoder.encode(files, store=store)
    path.write_text(json.dumps({"backbone": "small", "card_version": 1, "shards": []}))  # as the version before did
    assert "anacp features prune" in entry.problems()[0]
    entry.remove()
    assert store.entries() == []
    counting.encoder.encode(files, store=store)
    assert counting.rows == 40


KILLED = """
import os, signal, sys
from pathlib import Path
import anacp.encoders.stored, anacp.files.tensors as tensors
from anacp.encoders import Encoder, FeatureStore
from tests.backbones.test_backbone import small

anacp.encoders.stored.ROWS_PER_SHARD = 4
save, written = tensors.save_file, []

def killed_while_saving(contents, path, metadata):
    save(contents, path, metadata)
    written.append(path)
    if sys.argv[3] == "while saving" and len(written) == 3:
        os.truncate(path, 100)
        os.kill(os.getpid(), signal.SIGKILL)

def killed_in_between(progress):
    if sys.argv[3] == "in between" and progress.done == 16:
        os.kill(os.getpid(), signal.SIGKILL)

tensors.save_file = killed_while_saving
files = sorted(Path(sys.argv[1]).iterdir())
Encoder(small()).encode(files, store=FeatureStore(sys.argv[2]), report=killed_in_between)
"""


@pytest.mark.parametrize(("moment", "kept"), [("while saving", 8), ("in between", 16)])
def test_a_killed_pass_leaves_whole_shards_and_goes_on(moment: str, kept: int, files, store) -> None:
    root = Path(__file__).resolve().parents[2]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(root / "src"), str(root)])}
    command = [sys.executable, "-c", KILLED, str(files[0].parent), str(store.root), moment]
    assert subprocess.run(command, env=environment).returncode == -signal.SIGKILL
    entry = only_entry(store)
    assert (entry.n_rows, entry.problems()) == (kept, [])
    counting = Counting()
    np.testing.assert_array_equal(counting.encoder.encode(files, store=store).x, small().encode(files))
    assert counting.rows == 20 - kept


PRUNING = """
import sys, time
from anacp.encoders import FeatureStore
store = FeatureStore(sys.argv[1])
print("ready", flush=True)
while True:
    for entry in store.entries():
        entry.n_bytes, entry.age_days, entry.problems()
        entry.remove()
    time.sleep(0.05)
"""
ADDING = """
import sys
import numpy as np
import anacp.encoders.stored
from anacp.encoders import FeatureStore
from tests.backbones.test_backbone import small
from tests.encoders.test_store import digest

anacp.encoders.stored.ROWS_PER_SHARD = 4
backbone, draw = small(), np.random.default_rng(int(sys.argv[2]))
for turn in range(60):
    features = FeatureStore(sys.argv[1]).features(backbone)
    for number in range(10):
        row = np.full(6, number, np.float32)
        features.add(digest(number), row)
        found = features.get(digest(number))
        assert found is None or (found == row).all()
    features.flush()
"""


def test_two_processes_add_while_two_prune(store) -> None:
    """Nobody ends in an error of the system; what is found is right, and nothing is left behind."""
    root = Path(__file__).resolve().parents[2]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(root / "src"), str(root)]), "OMP_NUM_THREADS": "1"}

    def start(code: str, *arguments: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", code, str(store.root), *arguments]
        return subprocess.Popen(command, env=environment, stdout=-1, stderr=-1, text=True)

    pruning, adding = [start(PRUNING) for _ in range(2)], []
    try:
        for process in pruning:
            assert process.stdout.readline() == "ready\n"
        adding = [start(ADDING, str(seed)) for seed in range(2)]
        ended = [(process.communicate()[1], process.returncode) for process in adding]
        assert ended == [("", 0)] * 2, ended[0][0] + ended[1][0]
        assert [process.poll() for process in pruning] == [None, None]
    finally:
        for process in (*pruning, *adding):
            process.kill()
            process.communicate()
    for entry in store.entries():
        entry.remove()
    small_rows = store.features(small())
    small_rows.add(digest(0), np.zeros(6, np.float32))
    small_rows.flush()
    only_entry(store).remove()
    assert list(store.root.iterdir()) == []


@pytest.mark.usefixtures("small_shards")
def test_a_store_that_is_removed_under_its_reader(files, store) -> None:
    counting = Counting()
    expected = counting.encoder.encode(files, store=store).x
    features, entry = store.features(small()), only_entry(store)
    entry.remove()
    assert (entry.n_bytes, entry.problems() != [], entry.age_days < 1) == (0, True, True)
    with pytest.raises(FeatureStoreError, match="readable card"):
        entry.n_rows  # noqa: B018
    entry.remove()  # already gone
    store.clear()
    store.clear()
    assert store.entries() == []
    features.add(digest(1), np.zeros(6, np.float32))
    features.flush()
    assert only_entry(store).n_rows == 1
    np.testing.assert_array_equal(counting.encoder.encode(files, store=store).x, expected)


def test_what_cannot_be_kept_is_said_and_kept_for_the_next_time(store) -> None:
    store.root.parent.mkdir(exist_ok=True)
    store.root.write_text("a file where the store should be")
    features = store.features(small())
    features.add(digest(0), np.zeros(6, np.float32))
    with pytest.raises(FeatureStoreError, match=r"Expected to keep features in .*ANACP_HOME"):
        features.flush()
    store.root.unlink()
    features.flush()
    assert only_entry(store).n_rows == 1


@pytest.mark.parametrize("card", ["[" * 100_000, "[]", '{"card_version": {}}', '{"card_version": 2, "layers": 3}'])
def test_a_card_that_is_something_else(card: str, files, store) -> None:
    Encoder(small()).encode(files, store=store)
    entry = only_entry(store)
    (entry.folder / "card.json").write_text(card)
    with pytest.raises(FeatureStoreError, match="readable card"):
        entry.card  # noqa: B018


@pytest.mark.usefixtures("small_shards")
def test_the_next_pass_sweeps_what_a_killed_one_left(files, store) -> None:
    root = Path(__file__).resolve().parents[2]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(root / "src"), str(root)])}
    command = [sys.executable, "-c", KILLED, str(files[0].parent), str(store.root), "while saving"]
    assert subprocess.run(command, env=environment).returncode == -signal.SIGKILL
    assert list(only_entry(store).folder.glob(".*"))
    Encoder(small()).encode(files, store=store)
    assert not list(only_entry(store).folder.glob(".*"))


def test_a_shard_that_cannot_be_is_damage(tmp_path) -> None:
    x = np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32)
    path = Shard.write(tmp_path, "network", [digest(number) for number in range(5)], x, 1.0)
    file = TensorFile(path, SHARD)
    header, tensors = {key: one for key, one in file.header.items() if key != "written_by"}, file.tensors()
    n_refused = 0
    for seed in range(100):
        write_tensors(path, SHARD, *mutated(header, tensors, random.Random(seed)))
        try:
            shard = Shard(path, "network")
            shape = shard.x.shape
        except FeatureStoreError:
            n_refused += 1
        else:
            assert shape == (len(shard.digests), 3)
    assert n_refused > 50
