"""The GGUF header: of the probe model, of a written one, of truncated and hostile files."""

import hashlib
import struct
from pathlib import Path
from typing import Any

import pytest
from gguf import GGUFWriter
from hypothesis import given
from hypothesis import strategies as st

from soakproof.inventory.header import header
from soakproof.testbed.data import PROBE_MODEL

PROBE = PROBE_MODEL.read_bytes()[: 1 << 20]


def model(path: Path, tokens: list[str], **more: Any) -> str:
    writer = GGUFWriter(path, "qwen3moe")
    writer.add_name("Qwen4 Exp")
    writer.add_file_type(15)
    writer.add_context_length(262_144)
    writer.add_block_count(48)
    writer.add_expert_count(128)
    writer.add_expert_used_count(8)
    writer.add_token_list(tokens)
    writer.add_chat_template("{{ messages }}")
    writer.add_string("general.quantized_by", "Somebody")
    for name, value in more.items():
        writer.add_string(name.replace("__", "."), value)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_ti_data_to_file()
    writer.close()
    return str(path)


def test_a_model_says_what_it_is(tmp_path: Path) -> None:
    found = header(model(tmp_path / "m.gguf", ["a", "b"]))
    assert found["architecture"] == "qwen3moe"
    assert (found["name"], found["file_type"], found["quantized_by"]) == ("Qwen4 Exp", "Q4_K_M", "Somebody")
    assert (found["context_length"], found["block_count"]) == (262_144, 48)
    assert (found["expert_count"], found["expert_used_count"]) == (128, 8)
    assert found["chat_template_sha256"] == hashlib.sha256(b"{{ messages }}").hexdigest()[:16]


def test_another_vocabulary_is_another_tokenizer(tmp_path: Path) -> None:
    one, same, other = (
        header(model(tmp_path / f"{n}.gguf", tokens))
        for n, tokens in enumerate((["a", "bc"], ["a", "bc"], ["ab", "c"]))
    )
    assert one["tokenizer_sha256"] == same["tokenizer_sha256"] != other["tokenizer_sha256"]


def test_the_probe_model() -> None:
    found = header(str(PROBE_MODEL))
    assert (found["architecture"], found["file_type"], found["expert_count"]) == ("llama", "Q8_0", None)


def test_a_long_text_is_cut(tmp_path: Path) -> None:
    assert len(header(model(tmp_path / "m.gguf", ["a"], general__finetune="x" * 10_000))["finetune"]) == 200


HOSTILE = {
    "empty": b"",
    "a magic alone": b"GGUF",
    "another version": b"GGUF" + struct.pack("<I", 99) + bytes(16),
    "fields without end": b"GGUF" + struct.pack("<IQQ", 3, 0, 2**64 - 1),
    "a name without end": b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 2**63),
    "texts without end": b"GGUF" + struct.pack("<IQQQ1sIIQ", 3, 0, 1, 1, b"a", 9, 8, 2**62),
    "numbers without end": b"GGUF" + struct.pack("<IQQQ1sIIQ", 3, 0, 1, 1, b"a", 9, 4, 2**62),
    "arrays of arrays": b"GGUF" + struct.pack("<IQQQ1sIIQ", 3, 0, 1, 1, b"a", 9, 9, 2**62),
    "no such type": b"GGUF" + struct.pack("<IQQQ1sI", 3, 0, 1, 1, b"a", 77),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_is_unread(tmp_path: Path, name: str) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(HOSTILE[name])
    assert list(header(str(path))) == ["unread"]


@given(st.integers(0, len(PROBE)), st.lists(st.tuples(st.integers(0, 3000), st.integers(0, 255)), max_size=3))
def test_no_cut_and_no_wrong_byte_is_a_crash(end: int, wrong: list[tuple[int, int]]) -> None:
    import tempfile

    made = bytearray(PROBE)
    for place, byte in wrong:
        made[place] = byte
    with tempfile.NamedTemporaryFile(suffix=".gguf") as file:
        file.write(made[:end])
        file.flush()
        assert isinstance(header(file.name), dict)
