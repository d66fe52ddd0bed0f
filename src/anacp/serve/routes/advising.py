"""What to do next: label mistakes, confused pairs, how good it is, what is similar."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Query
from starlette.responses import Response

from anacp import evaluation
from anacp.serve import reading
from anacp.serve.looking_back import LookedBack
from anacp.serve.refusals import missing
from anacp.serve.routes.context import Context, answered, digest_of, shown

EXAMPLES = 4  # of each side of a confused pair
HOW = "Ridge regression on the features, each example judged by all others (leave-one-out in closed form)."


def router(context: Context) -> APIRouter:
    """Return the routes of one service."""
    routes = APIRouter(tags=["advice"])
    journal, back = context.service.journal, context.looking_back

    def facts(places: list[int], looked: LookedBack) -> list[dict[str, Any]]:
        """Return examples with what they would be taken for."""
        known = {
            one.digest: one for one in reading.shown_examples(journal, [looked.digests[place] for place in places])
        }
        return [
            shown(known[looked.digests[place]])
            | {"rather": looked.rather(place), "margin": round(float(-looked.margin[place]), 4)}
            for place in places
            if looked.digests[place] in known
        ]

    @routes.get("/v1/suspects", summary="Examples whose label is likely wrong, the surest first")
    async def suspects(limit: Annotated[int, Query(ge=1, le=1000)] = 50) -> Response:
        def read() -> Response:
            looked = back.now()
            wrong = looked.wrong()
            return answered({"suspects": facts(wrong[:limit], looked), "total": len(wrong), "how": HOW}, looked.version)

        return await context.apart(read)

    @routes.get("/v1/confusions", summary="Pairs of classes that are taken for each other, with examples of both")
    async def confusions(limit: Annotated[int, Query(ge=1, le=200)] = 20) -> Response:
        def read() -> Response:
            looked = back.now()
            pairs = Counter(frozenset((looked.label(place), looked.rather(place))) for place in looked.wrong())
            found = []
            for pair, n in sorted(pairs.items(), key=lambda one: (-one[1], sorted(one[0])))[:limit]:
                one, two = sorted(pair)
                found.append(
                    {
                        "labels": [one, two],
                        "n": n,
                        "examples": [facts(_of(looked, *side), looked) for side in ((one, two), (two, one))],
                    }
                )
            return answered({"confusions": found, "how": HOW}, looked.version)

        return await context.apart(read)

    @routes.get("/v1/accuracy", summary="How good it is, without a test set")
    async def accuracy() -> Response:
        def read() -> Response:
            looked = back.now()
            names = looked.classes.tolist()
            matrix = evaluation.confusion_matrix(
                looked.classes[looked.own], looked.classes[looked.taken_for], looked.classes
            )
            classes = [
                {"label": one.label, "n": one.n, "accuracy": round(one.accuracy / 100, 4), "taken_for": one.taken_for}
                for one in evaluation.class_results(matrix, names)
            ]
            share = round(float(looked.right.mean()), 4)
            return answered({"accuracy": share, "n": len(looked.own), "classes": classes, "how": HOW}, looked.version)

        return await context.apart(read)

    @routes.get(
        "/v1/examples/{identifier}/similar", summary="The most similar examples, by the cosine of their features"
    )
    async def similar(identifier: str, k: Annotated[int, Query(ge=1, le=100)] = 8) -> Response:
        digest = digest_of(identifier)

        def read() -> Response:
            with journal.reading() as version:
                row = journal.features([digest]).get(digest)
                if row is None:
                    raise missing("an example", identifier, "GET /v1/examples lists them.")
                digests, _, x = reading.features(journal)
                cosines = x @ row / (np.linalg.norm(x, axis=1) * np.linalg.norm(row)) if len(x) else np.empty(0)
                order = [place for place in np.argsort(-cosines, kind="stable").tolist() if digests[place] != digest][
                    :k
                ]
                near = reading.shown_examples(journal, [digests[place] for place in order])
            found = [
                shown(one) | {"similarity": round(float(cosines[place]), 4)}
                for one, place in zip(near, order, strict=True)
            ]
            return answered({"examples": found}, version)

        return await context.apart(read)

    return routes


def _of(looked: LookedBack, label: str, other: str) -> list[int]:
    """Return the places of some examples of a class, those taken for the other one first."""
    places = [place for place in range(len(looked.own)) if looked.label(place) == label]
    places.sort(key=lambda place: (looked.rather(place) != other, looked.margin[place]))
    return places[:EXAMPLES]
