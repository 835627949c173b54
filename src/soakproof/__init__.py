"""Soak tester for local LLM servers: real traffic, sealed evidence, separate judgement."""

__version__ = "0.1.0"
