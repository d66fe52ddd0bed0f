"""What `anacp info --classes` foresees, beside what happens: 20 classes of each embedded sample, drawn by seed 0."""

import numpy as np
from sklearn.base import clone

import anacp
from anacp.learners import Learner, class_outlooks

N_CLASSES, COUNTS = 20, (2, 5, 10, 50)


def main() -> None:
    print(f"{'sample':<10}{'learner':<9}{'examples':>8}{'sure':>7}{'is':>7}{'one more':>10}{'is':>8}")
    for name in ("clinc150", "cifar100"):
        sample, generator = anacp.load_sample(name), np.random.default_rng(0)
        classes = np.unique(sample.y_train)[:N_CLASSES]
        order = {c: generator.permutation(np.flatnonzero(sample.y_train == c)) for c in classes}
        shown = np.isin(sample.y_test, classes)
        own = np.searchsorted(classes, sample.y_test[shown])

        def sure(learner: Learner, x=sample.x_test[shown], own=own) -> float:
            return float(learner.predict_proba(x)[np.arange(len(own)), own].mean())

        for learner in (anacp.NCM(), anacp.AnaCP(n_projected=1000)):
            for n in COUNTS:
                some, more = (np.concatenate([order[c][:count] for c in classes]) for count in (n, n + 1))
                now, then = (clone(learner).fit(sample.x_train[rows], sample.y_train[rows]) for rows in (some, more))
                foreseen = class_outlooks(now)
                means = [float(np.mean([getattr(one, part) for one in foreseen])) for part in ("sure", "gain")]
                real = sure(now)
                gained = sure(then) - real
                line = f"{name:<10}{type(learner).__name__:<9}{n:>8}{means[0]:>7.2f}{real:>7.2f}"
                print(f"{line}{means[1]:>+10.3f}{gained:>+8.3f}")


if __name__ == "__main__":
    main()
