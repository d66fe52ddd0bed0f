"""The client of docs/serve.md runs as it stands there, and prints what the page says."""

import contextlib
import io
import re
from pathlib import Path

from anacp import Classifier
from anacp.serve import Service
from tests.backbones.models import needs_minilm
from tests.serve.serving import answering

PAGE = Path(__file__).parents[2] / "docs" / "serve.md"


@needs_minilm
def test_the_client_of_the_docs(tmp_path: Path) -> None:
    code, printed = re.findall(r"^```(?:py|text)\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    output = io.StringIO()
    with Service(tmp_path / "m.anacp", Classifier("minilm-l6", "NCM")) as service, answering(service) as ask:
        own = code.replace("127.0.0.1:8000", f"127.0.0.1:{ask.port}")
        with contextlib.redirect_stdout(output):
            exec(own, {})
    assert output.getvalue() == printed
