"""The journal: it replays to the same model, whatever happened, and a checkpoint is the same as none."""

import sqlite3
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anacp import Classifier
from anacp.errors import BusyError, DiskError, InputError, ModelFileError
from anacp.serve import Service
from anacp.serve.records import Stack
from anacp.serve.refusals import RefusedError
from anacp.serve.replaying import replayed
from tests.serve.serving import empty, text_of

LABELS = ("red", "green", "blue")
PROBES = [text_of(label, number) for label in LABELS for number in (9001, 9002)]
STEPS = st.one_of(
    st.tuples(st.just("learn"), st.sampled_from(LABELS), st.sets(st.integers(0, 8), min_size=1, max_size=3)),
    st.tuples(st.just("forget"), st.sampled_from(LABELS), st.sets(st.integers(0, 8), min_size=1, max_size=3)),
    st.tuples(st.just("rename"), st.sampled_from(LABELS), st.sampled_from(LABELS)),
    st.tuples(st.just("join"), st.sampled_from(LABELS), st.sampled_from(LABELS)),
    st.tuples(st.just("undo")),
    st.tuples(st.just("redo")),
)


def learn(service: Service, label: str, numbers: list[int], as_label: str | None = None) -> None:
    texts = [text_of(label, number) for number in numbers]
    contents = service.contents(texts, texts, service.gatherer.see(texts).result())
    service.teacher.learn(contents, [as_label or label] * len(contents))


def do(service: Service, step: tuple) -> None:
    """Take a step, or find it refused."""
    teacher = service.teacher
    try:
        if step[0] == "learn":
            learn(service, "house", sorted(step[2]), step[1])
        elif step[0] == "forget":
            digests = service.encoder.digests([text_of("house", number) for number in sorted(step[2])])
            teacher.forget(digests)
        elif step[0] == "rename":
            teacher.rename(step[1], step[2])
        elif step[0] == "join":
            teacher.join([step[1], step[2]], step[2])
        else:
            getattr(teacher, step[0])()
    except (RefusedError, InputError):
        pass


def told(classifier: Classifier) -> np.ndarray:
    return classifier.learner.scores(classifier.features(PROBES))


def check_replays(service: Service) -> None:
    """What is known is what the journal's events make of nothing, and what its table of examples says."""
    state, journal = service.state, service.journal
    assert state.version == journal.version
    assert state.stack == Stack.of(journal.events())
    again = replayed(service.teacher._empty, journal, state.stack.done)
    same(state.classifier, again)
    counts = {label: again.n_examples_of(label) for label in again.classes_.tolist()} if again.n_examples else {}
    assert counts == journal.counts()


def same(one: Classifier, two: Classifier) -> None:
    assert one.n_examples == two.n_examples
    if one.n_examples:
        assert one.classes_.tolist() == two.classes_.tolist()
        # Scores, not probabilities: of classes that are hardly apart these are as sharp as rounding is visible.
        np.testing.assert_allclose(told(one), told(two), atol=2e-5)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(STEPS, max_size=14))
def test_any_session_replays_to_the_same_model(
    steps: list, bert: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    model = tmp_path_factory.mktemp("session") / "m.anacp"
    with Service(model, empty(bert)) as service:
        for step in steps:
            do(service, step)
        check_replays(service)
        before = service.state
    with Service(model, empty(bert)) as service:  # from the checkpoint that the end wrote
        assert (service.state.version, service.state.stack) == (before.version, before.stack)
        same(service.state.classifier, before.classifier)
        check_replays(service)


def test_without_its_model_file_everything_is_still_there(tmp_path: Path, bert: Path) -> None:
    model = tmp_path / "m.anacp"
    with Service(model, empty(bert)) as service:
        learn(service, "red", [1, 2, 3])
        learn(service, "green", [1, 2])
        service.teacher.rename("green", "blue")
        before = service.state
    model.unlink()
    with Service(model) as service:  # the journal says what kind of model it is
        assert service.state.version == before.version
        same(service.state.classifier, before.classifier)


def test_what_another_command_learned_is_taken_in(tmp_path: Path, bert: Path) -> None:
    model = tmp_path / "m.anacp"
    with Service(model, empty(bert)) as service:
        learn(service, "red", [1, 2])
        learn(service, "green", [1])
    elsewhere = Classifier.load(model)
    elsewhere.learn([text_of("blue", 5)], ["blue"])
    elsewhere.forget([text_of("red", 1)], ["red"])
    elsewhere.save(model)
    with Service(model) as service:
        assert service.state.classifier.classes_.tolist() == ["blue", "green", "red"]
        assert service.journal.counts() == {
            "red": 1,
            "green": 1,
        }  # the one that was learned elsewhere has no content here
        assert service.state.can_undo == 0  # what another command did is not taken back here
        learn(service, "blue", [5])  # given again, it is known, and can be looked at from now on
        assert service.journal.counts()["blue"] == 1
        assert service.state.classifier.n_examples == 3
        service.teacher.delete_class("blue")
        assert service.state.classifier.classes_.tolist() == ["green", "red"]


def test_a_class_whose_examples_are_elsewhere_is_not_deleted(tmp_path: Path, bert: Path) -> None:
    model = tmp_path / "m.anacp"
    first = empty(bert)
    first.learn([text_of("red", 1), text_of("red", 2), text_of("green", 1)], ["red", "red", "green"])
    first.save(model)
    with Service(model) as service:
        with pytest.raises(RefusedError, match="2 that a model file brought"):
            service.teacher.delete_class("red")
        with pytest.raises(RefusedError, match="content is here"):
            service.teacher.relabel(service.encoder.digests([text_of("red", 1)]), "blue")
        texts = [text_of("red", 1), text_of("red", 2)]
        contents = service.contents(texts, texts, service.gatherer.see(texts).result())
        service.teacher.forget([one.digest for one in contents], contents)  # given, they are forgotten exactly
        assert service.state.classifier.classes_.tolist() == ["green"]
        service.teacher.undo()
        same(service.state.classifier, first)


def test_models_merge_what_is_shared_once_and_are_taken_back(tmp_path: Path, bert: Path) -> None:
    other = empty(bert)
    other.learn([text_of("red", 1), text_of("blue", 1)], ["red", "blue"])
    other.save(tmp_path / "other.anacp")
    with Service(tmp_path / "m.anacp", empty(bert)) as service:
        learn(service, "red", [1, 2])
        learn(service, "green", [1])
        before = service.state.classifier
        change = service.teacher.merge((tmp_path / "other.anacp").read_bytes())
        assert (change.new, change.known) == (1, 1)
        whole = empty(bert)
        labels = ["red", "red", "green", "blue"]
        whole.learn([text_of("red", 1), text_of("red", 2), text_of("green", 1), text_of("blue", 1)], labels)
        same(service.state.classifier, whole)
        service.teacher.undo()
        same(service.state.classifier, before)
        service.teacher.redo()
        same(service.state.classifier, whole)
    with Service(tmp_path / "m.anacp") as service:
        same(service.state.classifier, whole)


def test_a_full_disk_changes_nothing(tmp_path: Path, bert: Path) -> None:
    with Service(tmp_path / "m.anacp", empty(bert)) as service:
        learn(service, "red", [1])
        before = service.state
        pages = service.journal.rows("PRAGMA page_count")[0][0]
        service.journal._connection.execute(f"PRAGMA max_page_count={pages}")  # SQLite's own way to a full disk
        refused = None
        for number in range(200):
            before = service.state
            try:
                learn(service, "green", [number, number + 1, number + 2])
            except DiskError as problem:
                refused = str(problem)
                break
        assert refused is not None
        assert "full" in refused
        assert service.state is before
        service.journal._connection.execute("PRAGMA max_page_count=100000")
        learn(service, "blue", [1])
        check_replays(service)


def test_one_process_serves_a_model(tmp_path: Path, bert: Path) -> None:
    with Service(tmp_path / "m.anacp", empty(bert)), pytest.raises(BusyError):
        Service(tmp_path / "m.anacp", empty(bert))


def test_a_journal_of_another_kind_is_refused(tmp_path: Path, bert: Path) -> None:
    (tmp_path / "m.anacp.journal").write_bytes(b"something else, and long enough to be looked at" * 100)
    with pytest.raises(ModelFileError, match="of another kind"):
        Service(tmp_path / "m.anacp", empty(bert))
    (tmp_path / "m.anacp.journal").unlink()
    Service(tmp_path / "m.anacp", empty(bert)).close()
    with sqlite3.connect(tmp_path / "m.anacp.journal") as connection:
        connection.execute("UPDATE facts SET value = '99' WHERE name = 'format'")
    connection.close()
    with pytest.raises(ModelFileError, match="newer"):
        Service(tmp_path / "m.anacp", empty(bert))
