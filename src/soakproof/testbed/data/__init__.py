"""The probe model, as a file of the package."""

from pathlib import Path

PROBE_MODEL = Path(__file__).parent / "soak-probe-7m-q8_0.gguf"
