"""`soakproof testbed`: the embedded pair alone, as a target to try things on."""

from pathlib import Path

import click

from soakproof.cli.output import say


@click.command(short_help="Serve the embedded testbed: a real llama.cpp server with a tiny model.")
@click.option(
    "--model-file",
    type=click.Path(path_type=Path),
    metavar="FILE.gguf",
    help="Another model than the built-in probe model.",
)
@click.option("--slots", type=click.IntRange(1, 32), default=2, show_default=True)
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Of the gateway; 0 takes a free one.")
@click.option("--logs", type=click.Path(path_type=Path), metavar="DIR", help="Default: a temporary folder.")
def testbed(model_file: Path | None, slots: int, port: int, logs: Path | None) -> int:
    """Serve until Ctrl-C: llama.cpp's server with a model of 7 million parameters, behind a gateway that
    behaves as Lemonade does.

    \b
    Examples:
      soakproof testbed --port 13305
      soakproof testbed --model-file ~/models/Qwen3-0.6B-Q4_K_M.gguf
    """
    from soakproof.testbed.alone import run_alone

    say("starting …")
    return run_alone(model=model_file, slots=slots, port=port, log_dir=logs, say=say)
