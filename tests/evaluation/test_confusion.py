from anacp.evaluation import class_results, confusion_matrix


def test_confusion() -> None:
    matrix = confusion_matrix(["a", "a", "b", "b", "b"], ["a", "c", "c", "c", "a"], ["a", "b", "c"])
    assert matrix.tolist() == [[1, 0, 1], [1, 0, 2], [0, 0, 0]]
    worst, best = class_results(matrix, ["a", "b", "c"])  # c has no example
    assert (worst.label, worst.accuracy, worst.taken_for, worst.taken_for_n) == ("b", 0, "c", 2)
    assert (best.label, best.accuracy, best.right, best.n) == ("a", 50, 1, 2)
    assert class_results(confusion_matrix(["a"], ["a"], ["a"]), ["a"])[0].taken_for is None
