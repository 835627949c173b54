"""Renderers of a comparison: tables for the terminal, Markdown, CSV, JSON, a figure. No I/O.

Names of arms and workloads, and what models answered, are hostile text: each renderer neutralises it.
"""

from soakproof.report.comparing.data import to_csv, to_document
from soakproof.report.comparing.figure import draw
from soakproof.report.comparing.markdown import to_markdown
from soakproof.report.comparing.tables import notes, tables

__all__ = ["draw", "notes", "tables", "to_csv", "to_document", "to_markdown"]
