"""A backbone in LitServe, for `serve_load.py`: requests gathered into batches, and no model: serve_lit.py BACKBONE"""

from __future__ import annotations

import sys
from typing import Any

import litserve

from anacp.encoders import Encoder
from anacp.serve import address_of, batching, bound


class Api(litserve.LitAPI):  # type: ignore[misc]
    """Texts in, one number of their features out."""

    def setup(self, device: str) -> None:
        self.encoder = Encoder(sys.argv[1])
        self.encoder.encode(["first"])

    def decode_request(self, request: Any) -> list[str]:
        return list(request["texts"])

    def batch(self, inputs: Any) -> list[list[str]]:
        return list(inputs)

    def predict(self, inputs: Any) -> list[list[float]]:
        rows = self.encoder.encode([text for texts in inputs for text in texts]).x[:, 0].tolist()
        return [[rows.pop(0) for _ in texts] for texts in inputs]

    def unbatch(self, output: Any) -> Any:
        return output

    def encode_response(self, output: Any) -> dict[str, Any]:
        return {"first": output}


if __name__ == "__main__":
    with bound("127.0.0.1", 0) as free:
        port = int(address_of(free).rsplit(":", 1)[1].strip("/"))
    print(port, flush=True)
    api = Api(max_batch_size=batching.MOST, batch_timeout=0.005)
    server = litserve.LitServer(api, accelerator="cpu", timeout=False)
    server.run(host="127.0.0.1", port=port, log_level="warning", generate_client_file=False)
