"""`check_learner`: all laws on one learner."""

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from sklearn.base import clone

from anacp.errors import RidgeEdgeWarning
from anacp.learners import Learner
from anacp.testing import files, inputs, learning, predicting, scikit_learn, threads, unknown, weighing

BOTH = ("float32", "float64")


@dataclass(frozen=True)
class Law:
    """A promise, the check of it, and the precisions in which it is checked."""

    check: Callable[[Learner[Any]], None]
    precisions: tuple[str, ...] = ("float32",)

    @property
    def name(self) -> str:
        """What it is called."""
        return self.check.__name__

    def hold(self, learner: Learner[Any]) -> None:
        """Fail unless a learner that has learned nothing yet keeps the law."""
        for precision in self.precisions:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RidgeEdgeWarning)  # with so few rows that is no surprise
                self.check(clone(learner).set_params(dtype=precision))


LAWS: tuple[Law, ...] = (
    Law(learning.learns, BOTH),
    Law(learning.split_and_order_leave_no_trace, BOTH),
    Law(learning.predicting_in_between_leaves_no_trace, BOTH),
    Law(learning.more_rows_than_wait_are_the_same_rows, BOTH),
    Law(learning.merging_is_learning_both, BOTH),
    Law(learning.unlearning_is_never_having_learned, BOTH),
    Law(learning.what_was_not_learned_cannot_be_unlearned, BOTH),
    Law(learning.the_seed_decides_everything),
    Law(weighing.a_weight_counts_as_so_many_rows, BOTH),
    Law(weighing.parts_of_rows_add_up, BOTH),
    Law(weighing.sparse_rows_are_rows),
    Law(weighing.a_class_is_what_its_examples_are_called, BOTH),
    Law(inputs.input_of_any_type_is_taken),
    Law(inputs.inputs_and_global_random_state_stay_untouched),
    Law(inputs.bad_input_changes_nothing),
    Law(inputs.a_failed_first_batch_leaves_a_new_model),
    Law(inputs.a_failure_in_the_middle_changes_nothing, BOTH),
    Law(inputs.parameters_are_fixed_once_learned),
    Law(inputs.every_error_is_ours),
    Law(files.a_file_gives_back_the_model, BOTH),
    Law(files.a_solution_is_kept_and_not_solved_again, BOTH),
    Law(files.what_is_loaded_survives_its_file),
    Law(files.labels_of_any_type_come_back),
    Law(files.the_summary_tells_what_a_file_holds),
    Law(predicting.only_learned_classes_are_predicted),
    Law(predicting.one_example_is_enough),
    Law(predicting.degenerate_features_give_finite_scores),
    Law(predicting.a_class_of_one_stands_among_others),
    Law(predicting.a_thousand_classes_of_three),
    Law(predicting.prediction_sees_a_bounded_number_of_rows),
    Law(unknown.what_was_never_learned_is_told),
    Law(unknown.familiarity_is_that_of_the_data_learned, BOTH),
    Law(unknown.familiarity_is_finite_whatever_was_learned),
    Law(unknown.a_bad_label_for_the_unknown_is_refused),
    Law(threads.threads_see_one_moment_and_lose_nothing),
    Law(scikit_learn.scikit_learns_own_checks_pass, ("float64",)),
)


def check_learner(learner: Learner[Any] | type[Learner[Any]], laws: Iterable[Law] = LAWS) -> None:
    """Run all laws on a learner of anyone's: it learns, merges, forgets, saves and refuses as every learner here does.

    Parameters
    ----------
    learner : Learner or class
        One that has learned nothing yet; a class is made with its defaults. Small sizes make it quick.
    laws : iterable of Law, default=LAWS
        Which of them.

    Raises
    ------
    AssertionError
        For the first law that is broken; the message names it.
    """
    prototype: Learner[Any] = clone(learner) if isinstance(learner, Learner) else learner()
    for law in laws:
        try:
            law.hold(prototype)
        except Exception as problem:
            broken = f"{prototype!r} breaks the law {law.name}: {law.check.__doc__} ({problem})"
            raise AssertionError(broken) from problem
