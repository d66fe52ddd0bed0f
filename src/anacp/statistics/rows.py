"""The examples themselves, for methods that cannot do with less."""

from collections.abc import Mapping
from typing import ClassVar, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from anacp.errors import InputError
from anacp.statistics.base import Statistic
from anacp.statistics.folds import SHARE, Fold, rows_in


class ClassRows(Statistic):
    """Every row (n, d) with its class index: the only statistic that grows with the data without bound."""

    counts_whole_rows: ClassVar[bool] = True

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

    def _add_block_(self, x: Tensor, classes: Tensor, weights: Tensor | None, sign: int) -> None:
        x, classes, weights = rows_in(self.fold, x, classes, weights)
        if weights is not None:  # whole numbers
            x, classes = x.repeat_interleave(weights, 0), classes.repeat_interleave(weights)
        if sign > 0:
            self.rows, self.classes = torch.cat([self.rows, x]), torch.cat([self.classes, classes])
            return
        kept = torch.ones(len(self.rows), dtype=torch.bool, device=self.rows.device)
        kept[torch.from_numpy(_matches(_keys(self.rows, self.classes), _keys(x, classes))).to(kept.device)] = False
        self.rows, self.classes = self.rows[kept], self.classes[kept]

    def __add__(self, other: Self) -> Self:
        rows, classes = torch.cat([self.rows, other.rows]), torch.cat([self.classes, other.classes])
        return self._with(rows=rows, classes=classes)

    def at(self, sources: Tensor, places: Tensor, n_classes: int) -> Self:
        """Return the rows with class sources[i] renamed to places[i]; rows of other classes are dropped."""
        if not len(self.classes):
            return self
        renamed = torch.full((int(self.classes.max()) + 1,), -1, device=places.device)
        known = sources < len(renamed)  # a class may have no row in this fold
        renamed[sources[known]] = places[known]
        classes = renamed[self.classes]
        kept = classes >= 0
        rows = self.rows if bool(kept.all()) else self.rows[kept]
        return self._with(rows=rows, classes=classes[kept])

    def joined(self, places: Tensor, n_classes: int) -> Self:
        """Return the rows with class i at places[i]."""
        return self._with(classes=places[self.classes])

    def expected(self, n_classes: int, n_rows: int) -> Self:
        """Return an outline with n_rows rows, or the share of them that falls into the fold."""
        n = {"all": n_rows, "held out": n_rows // SHARE, "fitted": n_rows - n_rows // SHARE}[self.fold]
        return self._of(n)

    def shaped(self, n_classes: int, sizes: Mapping[str, tuple[int, ...]]) -> Self:
        """Return an outline with as many rows as the file has."""
        return self._of(sizes["rows"][0] if sizes.get("rows") else 0)

    def _of(self, n: int) -> Self:
        return self._with(rows=self.rows.new_empty(n, self.rows.shape[1]), classes=self.classes.new_empty(n))

    def tensors(self) -> dict[str, Tensor]:
        """Return rows and class indices."""
        return {"rows": self.rows, "classes": self.classes}

    def loaded(self, tensors: Mapping[str, Tensor]) -> Self:
        """Return the rows that were saved."""
        return self._with(rows=tensors["rows"], classes=tensors["classes"])


def _keys(rows: Tensor, classes: Tensor) -> NDArray[np.void]:
    """Return one comparable key for each row: the bytes of its class index and its numbers."""
    width = rows.shape[1] * rows.element_size()  # stated, for there may be no row to tell it from
    table = np.concatenate(
        [
            classes.cpu().numpy().astype(">i8")[:, None].view(np.uint8),
            np.ascontiguousarray(rows.cpu().numpy()).view(np.uint8).reshape(len(rows), width),
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
