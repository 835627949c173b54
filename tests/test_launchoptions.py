"""llama.cpp's command lines as options."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soakproof.launchoptions import options, shaping, speculation


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("-c 4096 -np 2", {"--ctx-size": "4096", "--parallel": "2"}),
        ("--ctx-size=4096", {"--ctx-size": "4096"}),
        ("-cram 1 --cache-ram 2", {"--cache-ram": "2"}),
        ("--cache-ram -1", {"--cache-ram": "-1"}),
        ("-ctk q8_0 --cache-type-v q4_0", {"--cache-type-k": "q8_0", "--cache-type-v": "q4_0"}),
        ("-b 512 -ub 128 -fa", {"--batch-size": "512", "--ubatch-size": "128", "--flash-attn": "given"}),
        ("-ngl 99 --n-gpu-layers all", {"--gpu-layers": "all"}),
        ("--jinja --metrics", {"--jinja": "given", "--metrics": "given"}),
        ("-ot a=CPU -ot b=CPU", {"--override-tensor": "a=CPU b=CPU"}),
        ("--of-tomorrow 3", {"--of-tomorrow": "3"}),
        ("stray -c", {"--ctx-size": "given"}),
        ("", {}),
    ],
)
def test_options_in_all_their_forms(line: str, found: dict[str, str]) -> None:
    assert options(line.split()) == found


def test_no_address_model_or_secret_shapes_a_server() -> None:
    line = "-m /m/x.gguf --port 1 --host :: -a n --api-key k --hf-token t -hft u --log-file l -c 1"
    assert shaping(line.split()) == {"--ctx-size": "1"}


def test_drafting_by_its_options() -> None:
    line = "-md /m/Draft-Q4_0.gguf --draft-max 16 --spec-type ngram-mod -c 1 -ctkd q8_0 -lcs /x"
    assert speculation(options(line.split())) == {
        "--model-draft": "Draft-Q4_0",
        "--draft-max": "16",
        "--spec-type": "ngram-mod",
        "--cache-type-k-draft": "q8_0",
        "--lookup-cache-static": "/x",
    }


@given(st.lists(st.text(alphabet="-=ac1 \0é", max_size=6)))
def test_any_words_are_read(words: list[str]) -> None:
    assert all(name.startswith("-") for name in options(words))
    assert shaping(words).keys() <= options(words).keys()
