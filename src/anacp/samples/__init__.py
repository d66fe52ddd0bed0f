"""Real pretrained features shipped with the package, 8 bits a number; see README.md beside for origin and licences."""

from typing import TYPE_CHECKING

from anacp.doors import door

if TYPE_CHECKING:
    from anacp.samples.load import SAMPLES, Sample, load_sample
    from anacp.samples.quantization import dequantize, quantize, write_sample

__all__ = ["SAMPLES", "Sample", "dequantize", "load_sample", "quantize", "write_sample"]

__getattr__ = door(__name__)
