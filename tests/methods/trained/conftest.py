import pytest

from tests.adaptation.models import tiny


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory):
    return tiny("bert", tmp_path_factory.mktemp("bert"))
