"""What undo costs in a file: 84 photos of 7 classes (features of the embedded sample), then a join of two classes."""

import tempfile
from pathlib import Path

import numpy as np

import anacp
from anacp.encoders import Encoder
from anacp.items import content_hash
from anacp.methods import Classifier
from anacp.methods.learned_examples import LearnedExamples
from anacp.methods.moves import Moves
from anacp.methods.taught import Taught

N_CLASSES, N_PHOTOS = 7, 12


def sizes(classifier: Classifier, folder: Path) -> tuple[int, int]:
    """Return the bytes of a solved model's file with what undo keeps, and without."""
    classifier.solve().save(folder / "with")
    classifier.give_up_undo()
    classifier.save(folder / "without")
    return (folder / "with").stat().st_size, (folder / "without").stat().st_size


def main() -> None:
    sample = anacp.load_sample("cifar100")
    y = np.asarray(sample.y_train)
    rows = np.concatenate([np.flatnonzero(y == label)[:N_PHOTOS] for label in np.unique(y)[:N_CLASSES]])
    labels = y[rows].astype(str)
    digests = [bytes.fromhex(content_hash(str(row).encode())) for row in rows]
    moves = Moves.of(np.asarray(sample.x_train[rows], np.float32), digests, after=labels)
    classifier = Classifier(Encoder("efficientnet-lite0"), "AnaCP")
    nothing = Taught(classifier.learner, LearnedExamples())
    classifier._taught = nothing.moved(moves).after(nothing, "learn", len(rows), np.unique(labels).tolist(), undo=moves)
    with tempfile.TemporaryDirectory() as folder:
        for step in ("learn", "join"):
            if step == "join":
                classifier.join(classifier.classes_[:2].tolist(), "both")
            kept, bare = sizes(classifier, Path(folder))
            print(f"{step}: {bare / 1e6:.2f} MB, to undo it {(kept - bare) / 1e6:.2f} MB more")


if __name__ == "__main__":
    main()
