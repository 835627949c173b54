"""How many tokens a server takes at a time, read from its launch; what cannot be known is None."""

from typing import Any

import pytest

from soakproof.target.batches import batch_tokens


def launched(*words: str) -> dict[str, Any]:
    return {"recipe": "llamacpp", "launch_command": ["llama-server", "-m", "x.gguf", *words]}


@pytest.mark.parametrize(
    ("identity", "expected"),
    [
        (launched(), (2048, 512)),
        (launched("-b", "512", "-ub", "128"), (512, 128)),
        (launched("--batch-size", "4096", "--ubatch-size", "1024"), (4096, 1024)),
        (launched("-ub", "256"), (2048, 256)),
        (launched("-b", "256"), (256, 256)),  # llama.cpp takes the smaller one
        (launched("-ub", "128", "-ub", "64"), (2048, 64)),
        (launched("-b", "many"), (None, 512)),
        (launched("-ub"), (2048, None)),
        (launched("-ub", "0"), (2048, None)),
        ({"recipe": "llamacpp", "recipe_options": {"llamacpp_args": "-b 1024 -ub 1024"}}, (1024, 1024)),
        ({"recipe": "flm", "launch_command": ["flm", "-b", "512"]}, (None, None)),
        ({}, (None, None)),
    ],
)
def test_from_the_launch(identity: dict[str, Any], expected: tuple[int | None, int | None]) -> None:
    assert batch_tokens(identity) == expected
