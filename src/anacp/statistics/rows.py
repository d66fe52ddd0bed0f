"""The examples themselves, for methods that cannot do with less."""

from collections.abc import Mapping
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from anacp.errors import InputError
from anacp.statistics.base import Statistic
from anacp.statistics.folds import SHARE, Fold, rows_in

__all__ = ["ClassRows"]


class ClassRows(Statistic):
    """Every row (n, d) with its class index: the only statistic that grows with the data without bound."""

    def __init__(
        self, n_features: int, *, fold: Fold = "all", device: str = "cpu", dtype: torch.dtype = torch.float32
    ) -> None:
        self.fold: Fold = fold
        self.rows = torch.zeros(0, n_features, device=device, dtype=dtype)  # (n, d)
        self.classes = torch.zeros(0, device=device, dtype=torch.int64)  # (n,)

    @property
    def separable(self) -> bool:
        """Every row belongs to one class."""
        return True

    def sorted(self) -> tuple[Tensor, Tensor]:
        """Return rows and class indices in an order that depends on their content only."""
        order = torch.from_numpy(np.argsort(_keys(self.rows, self.classes), kind="stable")).to(self.rows.device)
        return self.rows[order], self.classes[order]

    def _add_block_(self, x: Tensor, classes: Tensor, sign: int) -> None:
        x, classes = rows_in(self.fold, x, classes)
        if sign > 0:
            rows = torch.cat([self.rows, x])
            self.rows, self.classes = rows, torch.cat([self.classes, classes])
            return
        kept = torch.ones(len(self.rows), dtype=torch.bool, device=self.rows.device)
        kept[torch.from_numpy(_matches(_keys(self.rows, self.classes), _keys(x, classes))).to(kept.device)] = False
        rows = self.rows[kept]
        self.rows, self.classes = rows, self.classes[kept]

    def __add__(self, other: Self) -> Self:
        return self._with(torch.cat([self.rows, other.rows]), torch.cat([self.classes, other.classes]))

    def _with(self, rows: Tensor, classes: Tensor) -> Self:
        result = type(self).__new__(type(self))
        result.fold, result.rows, result.classes = self.fold, rows, classes
        return result

    def at(self, sources: Tensor, places: Tensor, n_classes: int) -> Self:
        """Return the rows with class sources[i] renamed to places[i]; rows of other classes are dropped."""
        if not len(self.classes):
            return self._with(self.rows, self.classes)
        renamed = torch.full((int(self.classes.max()) + 1,), -1, device=places.device)
        known = sources < len(renamed)  # a class may have no row in this fold
        renamed[sources[known]] = places[known]
        classes = renamed[self.classes]
        kept = classes >= 0
        return self._with(self.rows, classes) if bool(kept.all()) else self._with(self.rows[kept], classes[kept])

    def expected(self, n_classes: int, n_rows: int) -> Self:
        """Return an outline with n_rows rows, or the share of them that falls into the fold."""
        n = {"all": n_rows, "held out": n_rows // SHARE, "fitted": n_rows - n_rows // SHARE}[self.fold]
        return self._with(self.rows.new_empty(n, self.rows.shape[1]), self.classes.new_empty(n))

    def tensors(self) -> dict[str, Tensor]:
        """Return rows and class indices."""
        return {"rows": self.rows, "classes": self.classes}

    def load_(self, tensors: Mapping[str, Tensor]) -> None:
        """Take over saved tensors."""
        self.rows, self.classes = tensors["rows"], tensors["classes"]


def _keys(rows: Tensor, classes: Tensor) -> NDArray[np.void]:
    """Return one comparable key for each row: the bytes of its class index and its numbers."""
    table = np.concatenate(
        [
            classes.cpu().numpy().astype(">i8")[:, None].view(np.uint8),
            np.ascontiguousarray(rows.cpu().numpy()).view(np.uint8).reshape(len(rows), -1),
        ],
        axis=1,
    )
    return np.ascontiguousarray(table).view(np.dtype((np.void, table.shape[1]))).reshape(len(rows))


def _matches(held: NDArray[np.void], wanted: NDArray[np.void]) -> NDArray[np.int64]:
    """Return for each wanted key the index of a held one, each held index once."""
    places: dict[bytes, list[int]] = {}
    for index, key in enumerate(held):
        places.setdefault(key.tobytes(), []).append(index)
    found = [places[key.tobytes()].pop() if places.get(key.tobytes()) else -1 for key in wanted]
    if -1 in found:
        raise InputError(
            f"Expected rows learned before, got {found.count(-1)} that were not. Unlearn rows exactly as learned."
        )
    return np.array(found, dtype=np.int64)
