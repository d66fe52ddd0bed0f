"""Real pretrained features shipped with the package, 8 bits a number; see README.md beside for origin and licences."""

from anacp.samples.load import SAMPLES, Sample, load_sample
from anacp.samples.quantization import dequantize, quantize, write_sample

__all__ = ["SAMPLES", "Sample", "dequantize", "load_sample", "quantize", "write_sample"]
