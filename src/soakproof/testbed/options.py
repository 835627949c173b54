"""What the engine is started with, in llama-server's own words: one spelling for our command line, for the
launch command that the health document shows, and for the arguments that `/load` accepts.
"""

import argparse
import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import NoReturn

# field -> (flags, type); the defaults were measured with the probe model on two cores
_FLAGS: dict[str, tuple[tuple[str, ...], type]] = {
    "slots": (("-np", "--parallel"), int),
    "threads": (("-t", "--threads"), int),
    "threads_batch": (("-tb", "--threads-batch"), int),
    "batch": (("-b", "--batch-size"), int),
    "ubatch": (("-ub", "--ubatch-size"), int),
    "flash_attention": (("-fa", "--flash-attn"), str),
    "cache_ram": (("--cache-ram",), int),
}


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """Settings of one engine. Threads above one collapse beside a busy core, flash attention on a CPU
    halves the decode rate, and the host's prompt cache has to be bounded.
    """

    context: int = 32768  # tokens in all; each slot has its share
    slots: int = 2
    threads: int = 1
    threads_batch: int = 1
    batch: int = 512
    ubatch: int = 128
    flash_attention: str = "off"
    cache_ram: int = 256  # MiB

    def llamacpp_args(self) -> list[str]:
        """All but the context, which Lemonade keeps as an option of its own."""
        values = asdict(self)
        return [word for field, (flags, _) in _FLAGS.items() for word in (flags[0], str(values[field]))]

    def arguments(self) -> list[str]:
        return ["--ctx-size", str(self.context), *self.llamacpp_args()]

    def launch_command(self, model: str, port: int) -> list[str]:
        """What starts the same server from llama.cpp's own binary."""
        head = ["llama-server", "-m", model, "--ctx-size", str(self.context), "--port", str(port)]
        return [*head, "--jinja", "--metrics", *self.llamacpp_args()]

    def recipe_options(self) -> dict[str, object]:
        return {
            "ctx_size": self.context,
            "llamacpp_args": " ".join(self.llamacpp_args()),
            "llamacpp_backend": "system",
        }

    def changed(self, ctx_size: int | None, llamacpp_args: str | None) -> "EngineOptions":
        """These options with a load request's own on top; ValueError for arguments that are not known."""
        changed = self
        if llamacpp_args is not None:
            parser = _Strict(add_help=False, allow_abbrev=False)
            add_to(parser, self)
            changed = of(parser.parse_args(shlex.split(llamacpp_args)))
        return changed if ctx_size is None else replace(changed, context=ctx_size)


class _Strict(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ValueError(message)


def add_to(parser: argparse.ArgumentParser, defaults: EngineOptions | None = None) -> None:
    """The engine's flags, with their defaults."""
    values = asdict(defaults or EngineOptions())
    parser.add_argument("-c", "--ctx-size", dest="context", type=int, default=values["context"])
    for field, (flags, kind) in _FLAGS.items():
        choices = ("on", "off", "auto") if field == "flash_attention" else None
        parser.add_argument(*flags, dest=field, type=kind, default=values[field], choices=choices)


def of(arguments: argparse.Namespace) -> EngineOptions:
    """The options among parsed arguments."""
    fields: Sequence[str] = ("context", *_FLAGS)
    return EngineOptions(**{field: getattr(arguments, field) for field in fields})
