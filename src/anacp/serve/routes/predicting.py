"""What the model says of photos and texts."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from anacp.serve.batching import Judged, Question, Ranked, Seen
from anacp.serve.refusals import RefusedError
from anacp.serve.routes.bodies import uploads_of
from anacp.serve.routes.context import Context, answered
from anacp.serve.uploads import uploaded

K = Annotated[int, Query(ge=1, le=1000, description="How many of the likeliest labels.")]
Unknown = Annotated[bool, Query(description="Say where it is none of the classes.")]
Keep = Annotated[float, Query(gt=0, lt=1, description="The share of examples of known classes to be recognised.")]
After = Annotated[int, Query(ge=0, le=2**53, description="Wait until this version, or a later one, answers.")]
Early = Annotated[
    bool,
    Query(
        description="Do not wait for probabilities: a version that is solved and not settled yet names the likeliest "
        "labels alone, with null for every probability and for unknown, and `settled` false."
    ),
]


def router(context: Context) -> APIRouter:
    """Return the routes of one service."""
    routes = APIRouter(tags=["predicting"])

    @routes.post("/v1/predict", summary="What photos or texts are, and how sure that is", openapi_extra=uploads_of({}))
    async def predict(
        request: Request,
        k: K = 5,
        unknown: Unknown = True,
        keep: Keep = 0.95,
        after: After = 0,
        early: Early = False,
    ) -> Response:
        upload = await uploaded(request, context.service.modality, context.limits)
        if after > context.service.state.version:
            raise RefusedError(
                409, "no_such_version", f"Expected a version that there is, got {after}.", "Leave `after` out."
            )
        if not await context.follower.solved_at(after, context.limits.seconds, early=early):
            raise RefusedError(
                503, "slow", f"Expected version {after} to answer in time, got an earlier one.", "Ask again."
            )
        seen, judged = await context.ask(upload.items, Question(keep if unknown else None, early))
        answers = answers_of(seen, judged, upload.names, k)
        if judged is None:
            raise RefusedError(
                422, "unreadable", answers[0]["problem"] or "Expected something readable.", "Send another."
            )
        return answered({"answers": answers, "settled": isinstance(judged, Judged)}, judged.version)

    return routes


def answers_of(seen: Seen, judged: Judged | Ranked | None, names: Any, k: int) -> list[dict[str, Any]]:
    """Return an answer for each item: labels with probabilities, or why there is none."""
    answers: list[dict[str, Any]] = []
    place = 0
    for name, row, problem in zip(names, seen.rows, seen.problems, strict=True):
        if row is None or judged is None:
            answers.append(
                {"name": name, "label": None, "unknown": False, "probability": None, "top": [], "problem": problem}
            )
            continue
        answers.append({"name": name} | answer_of(judged, place, k))
        place += 1
    return answers


def answer_of(judged: Judged | Ranked, place: int, k: int) -> dict[str, Any]:
    """Return the likeliest labels of one row; the label is none where it is unknown."""
    if isinstance(judged, Ranked):
        order = np.argsort(-judged.scores[place], kind="stable")[:k]
        likeliest = [{"label": str(judged.classes[c]), "probability": None} for c in order]
        return {"label": likeliest[0]["label"], "unknown": None, "probability": None, "top": likeliest}
    chances = judged.probabilities[place]
    best = np.argsort(-chances, kind="stable")[:k]
    top = [{"label": str(judged.classes[c]), "probability": round(float(chances[c]), 6)} for c in best]
    unknown = judged.familiarity is not None and bool(judged.familiarity[place] < 0)
    label = None if unknown else top[0]["label"]
    return {"label": label, "unknown": unknown, "probability": top[0]["probability"], "top": top}
