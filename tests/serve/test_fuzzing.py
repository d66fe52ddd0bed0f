"""Uploads of any kind; `python -m tests.serve.fuzzing` sends ten thousand."""

from pathlib import Path

from tests.serve.fuzzing import session


def test_no_upload_breaks_it(tmp_path: Path, vit: Path) -> None:
    (tmp_path / "vit").symlink_to(vit)
    statuses = session(250, 7, tmp_path)
    assert sum(statuses.values()) > 235
    assert statuses[422] > 60
    assert set(statuses) <= {200, 400, 404, 409, 413, 415, 422}
