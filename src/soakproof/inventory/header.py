"""The header of a GGUF file by the `gguf` package: what the model says it is. Tensors are never read.

A header is hostile until shown otherwise: every length is checked against the file before anything is made of
it, and a header that is longer than any real one is refused. Arrays, such as a vocabulary, are walked over
and digested: the package makes objects of each item, which takes 18 s for 150,000 tokens.
"""

import hashlib
import logging
import struct
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from gguf import GGUFReader, GGUFValueType, LlamaFileType
from gguf.gguf_reader import ReaderField

MAGIC = b"GGUF"
_LONGEST = 128 << 20  # bytes of a header; vocabularies of 262,144 tokens take 20 MiB
_TEXT = 200  # characters that are kept of a text
_TOKENIZER = "tokenizer.ggml."
_OF_MODEL = {
    "name": "general.name",
    "quantized_by": "general.quantized_by",
    "size_label": "general.size_label",
    "finetune": "general.finetune",
    "quantization_version": "general.quantization_version",
    "tokenizer_model": "tokenizer.ggml.model",
}
_OF_ARCHITECTURE = ("context_length", "block_count", "expert_count", "expert_used_count", "embedding_length")


class _Header(GGUFReader):
    """A reader that stops where the tensors begin, and trusts no length."""

    def _get(self, offset: int, dtype: Any, count: int = 1, override_order: Any = None) -> Any:
        end = int(offset) + int(count) * np.dtype(dtype).itemsize
        if not 0 <= offset <= end <= min(len(self.data), _LONGEST):
            raise ValueError(f"the header ends in byte {offset}, or is longer than {_LONGEST >> 20} MiB")
        return super()._get(offset, dtype, count, override_order)

    def _get_field_parts(self, orig_offs: int, raw_type: int) -> tuple[int, list[Any], list[int], list[Any]]:
        if raw_type != GGUFValueType.ARRAY:
            found: tuple[int, list[Any], list[int], list[Any]] = super()._get_field_parts(orig_offs, raw_type)
            return found
        item = GGUFValueType(int(self._get(orig_offs, np.uint32)[0]))
        count = int(self._get(orig_offs + 4, np.uint64)[0])
        start = orig_offs + 12
        size = self._strings(start, count) if item == GGUFValueType.STRING else self._numbers(item, count)
        return 12 + size, [self._get(start, np.uint8, size)], [0], [GGUFValueType.ARRAY, item]

    def _numbers(self, item: GGUFValueType, count: int) -> int:
        made = self.gguf_scalar_to_np.get(item)
        if made is None:
            raise ValueError(f"an array of {item.name}")
        return count * np.dtype(made).itemsize

    def _strings(self, start: int, count: int) -> int:
        """The bytes of so many texts, each with its length before it."""
        data = self.data[:_LONGEST].data
        length = struct.Struct(">Q" if self.byte_order == "S" else "<Q").unpack_from
        at = start
        for _ in range(count):
            at += 8 + length(data, at)[0]
        return at - start

    def _build_tensor_info(self, offs: int, count: int) -> tuple[int, list[ReaderField]]:
        return offs, []

    def _build_tensors(self, start_offs: int, fields: list[ReaderField]) -> None:
        return None


def header(path: str) -> dict[str, Any]:
    """What a model says of itself; {"unread": why} for a file that is no sound GGUF."""
    logging.getLogger("gguf").setLevel(logging.CRITICAL)
    try:
        fields = _Header(path).fields
        return _told({name: field for name, field in fields.items() if not name.startswith("GGUF.")})
    except Exception as error:  # whatever the package makes of bytes that somebody else wrote
        return {"unread": f"{type(error).__name__}: {error}"[:_TEXT]}


def _told(fields: Mapping[str, ReaderField]) -> dict[str, Any]:
    architecture = _value(fields.get("general.architecture"))
    names = dict(_OF_MODEL)
    if isinstance(architecture, str):
        names |= {name: f"{architecture}.{name}" for name in _OF_ARCHITECTURE}
    told = {name: _value(fields.get(key)) for name, key in names.items()}
    return {
        "architecture": architecture,
        **told,
        "file_type": _file_type(_value(fields.get("general.file_type"))),
        "chat_template_sha256": _digest([fields.get("tokenizer.chat_template")]),
        "tokenizer_sha256": _digest(
            field for name, field in sorted(fields.items()) if name.startswith(_TOKENIZER)
        ),
    }


def _value(field: ReaderField | None) -> Any:
    """A text or a number; None for what is not there, and for arrays, of which no length is kept."""
    if field is None or field.types[:1] == [GGUFValueType.ARRAY]:
        return None
    found = field.contents()
    if isinstance(found, str):
        return found[:_TEXT]
    return found if isinstance(found, int) else None


def _file_type(number: Any) -> str | None:
    """The quantisation by llama.cpp's own name, such as Q4_K_M."""
    try:
        name = LlamaFileType(number).name
    except ValueError:
        return None if number is None else f"unknown file type {number}"
    return name.removeprefix("MOSTLY_").removeprefix("ALL_")


def _digest(fields: Iterable[ReaderField | None]) -> str | None:
    """Of names and values, in sixteen hex digits as that of a server's template; None where there is none."""
    summed, seen = hashlib.sha256(), False
    for field in fields:
        if field is not None:
            seen = True
            summed.update(f"{field.name}\0".encode() if field.name.startswith(_TOKENIZER) else b"")
            summed.update(field.parts[-1].tobytes())
    return summed.hexdigest()[:16] if seen else None
