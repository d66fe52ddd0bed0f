"""Learners behind transformers whose output is a table of pandas or polars."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from anacp import NCM, AnaCP
from anacp.testing import blobs


@pytest.mark.parametrize("output", ["pandas", "polars"])
@pytest.mark.parametrize("learner", [NCM(), AnaCP(n_projected=60, ridge=1.0)], ids=repr)
def test_set_output(output: str, learner) -> None:
    x, y = blobs(n_classes=3)
    columns = [f"f{number}" for number in range(x.shape[1])]
    table = {"pandas": pd.DataFrame, "polars": pl.DataFrame}[output](dict(zip(columns, x.T, strict=True)))
    plain = make_pipeline(StandardScaler(), learner).fit(x, y)
    expected = plain.predict_proba(x)
    model = make_pipeline(StandardScaler(), learner).set_output(transform=output).fit(table, y)
    assert type(model[:-1].transform(table)).__module__.startswith(output)
    np.testing.assert_allclose(model.predict_proba(table), expected, atol=1e-6)
    assert model[-1].feature_names_in_.tolist() == columns
    shown = model[:-1].transform(table)
    renamed = shown.rename(columns={"f0": "g0"}) if output == "pandas" else shown.rename({"f0": "g0"})
    with pytest.raises(ValueError, match="feature names should match"):
        model[-1].predict(renamed)


@pytest.mark.parametrize("output", ["pandas", "polars"])
def test_adapted_features_as_a_table(output: str) -> None:
    x, y = blobs(n_classes=3)
    model = AnaCP(n_projected=60, ridge=1.0).fit(x, y)
    plain = model.transform(x)
    table = model.set_output(transform=output).transform(x)
    assert type(table).__module__.startswith(output)
    assert list(table.columns) == model.get_feature_names_out().tolist()
    assert table.columns[0] == "anacp0"
    np.testing.assert_array_equal(table.to_numpy(), plain)
    assert not hasattr(NCM(), "get_feature_names_out")
