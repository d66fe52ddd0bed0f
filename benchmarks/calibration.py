"""Expected calibration error of `predict_proba` on both embedded samples, every learner with its defaults.

.venv/bin/python benchmarks/calibration.py
"""

import anacp.learners  # noqa: F401 (makes the methods known)
from anacp import load_sample
from anacp.catalogue import METHODS
from anacp.evaluation import expected_calibration_error


def main() -> None:
    for name in ("clinc150", "cifar100"):
        sample = load_sample(name)
        for learner in (entry.make for entry in METHODS.values() if entry.takes == "features" and not entry.parameters):
            model = learner().partial_fit(sample.x_train, sample.y_train)
            probabilities = model.predict_proba(sample.x_test)
            correct = model.classes_[probabilities.argmax(1)] == sample.y_test
            error = expected_calibration_error(probabilities.max(1), correct)
            print(
                f"{name} {learner.__name__}: accuracy {100 * correct.mean():.1f} %, mean confidence "
                f"{100 * probabilities.max(1).mean():.1f} %, calibration error {error:.3f}"
            )


if __name__ == "__main__":
    main()
