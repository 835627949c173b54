"""The fields of a run's identity, each with its role, and where run.json tells it. No I/O.

What must be the *same* makes two runs alike: the model, the room it has, what is asked, the machine. What is
*under test* is what a release changes. What follows from another field, or changes by itself, is *noted*: the
model's file decides, and what its header says is there to be read.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from soakproof.judge.identity.readers import (
    Reader,
    at,
    batch_sizes,
    cache_type,
    content,
    drafting,
    first,
    kind_options,
    launch_arguments,
    library_digests,
    mix,
    model_file,
    of_server,
    quantisation,
    think_time,
    users,
)
from soakproof.judge.rules import Role


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a run's identity; ``ways`` are readers by what they rest on, the surest first."""

    name: str
    role: Role
    ways: Mapping[str, Reader]
    close: float = 0.0  # numbers within this share of each other are equal
    told_at: tuple[str, ...] = ()  # where in run.json, by dotted names, the surest first
    later: bool = False  # runs of earlier versions, which kept no provenance, do not tell it


def _same(name: str, told_at: str, /, close: float = 0.0, **ways: Reader) -> Field:
    return Field(name, "same", ways, close, tuple(told_at.split()))


def _tested(name: str, told_at: str, /, *readers: Reader, **ways: Reader) -> Field:
    return Field(
        name,
        "under_test",
        {**ways, **({"": first(*readers)} if readers else {})},
        0.0,
        tuple(told_at.split()),
    )


def _noted(name: str, told_at: str, /, *readers: Reader) -> Field:
    return Field(name, "noted", {"": first(*(readers or (at(*told_at.split(".")),)))}, 0.0, (told_at,))


def _of_host(name: str) -> Reader:
    return of_server(at("host", name))


def _later(name: str, role: Role, told_at: str, reader: Reader) -> Field:
    """A field that runs of earlier versions do not tell."""
    return Field(name, role, {"": reader}, 0.0, (told_at,), later=True)


def _installed(name: str, source: str | None = None) -> Field:
    """What drives the server's GPU, which an update changes."""
    source = source or name
    return _later(name, "under_test", f"host.{source}", _of_host(source))


def _in_header(name: str, key: str | None = None) -> Field:
    """What the model's file says of the model: it follows from the file, which decides."""
    return _later(name, "noted", "target.gguf", at("target", "gguf", key or name))


_COMMAND = "target.launch_command"

FIELDS: tuple[Field, ...] = (
    _same(
        "model",
        "target.model_file target.model_path target.launch_command target.model_resolved target.model",
        shards=at("target", "model_file", "shards", "sha256_of_shards"),
        shards_ends=at("target", "model_file", "shards", "sha256_of_shards_ends"),
        digest=first(at("target", "model_digest"), at("target", "model_file", "sha256")),
        digest_of_ends=at("target", "model_file", "sha256_of_ends"),
        file=model_file,
        name=first(at("target", "model_resolved"), at("target", "model")),
    ),
    _same(
        "quantisation",
        "target.gguf target.model_path target.launch_command target.checkpoint target.model_resolved",
        header=at("target", "gguf", "file_type"),
        name=quantisation,
    ),
    _same(
        "slot_context",
        "target.slot_context around.slot_context",
        tokens=first(at("target", "slot_context"), at("around", "slot_context")),
    ),
    _same("slots", "target.slots around.slots", count=first(at("target", "slots"), at("around", "slots"))),
    _same("plan", "digests plan", digest=at("digests", "plan"), content=content("plan", "source")),
    _same("mix", "plan", counts=mix),
    _same("kind_options", "plan", options=kind_options),
    _same("prompts", "digests", digests=at("digests", "prompts")),
    _same("scenarios", "digests", digests=at("digests", "scenarios")),
    _same("seed", "plan", number=at("plan", "seed")),
    _same("users", "plan", count=users),
    _same("think_time", "plan", seconds=think_time),
    _same("host", "host.machine host.cpu", machine=at("host", "machine"), cpu=at("host", "cpu")),
    _same("memory_bytes", "host.memory_bytes", 0.02, bytes=at("host", "memory_bytes")),
    _tested("front", "target.kind", at("target", "kind")),
    _tested("front_version", "target.version", at("target", "version")),
    _tested("backend_build", "target.build", at("target", "build"), at("target", "backend_build")),
    _tested(
        "backend_file",
        "target.executable",
        digest=first(at("target", "executable_digest"), at("target", "executable", "sha256")),
        digest_of_ends=at("target", "executable", "sha256_of_ends"),
        content=content("target", "executable"),
    ),
    _later("backend_libraries", "under_test", "target.libraries", library_digests),
    _later("runtime_libraries", "under_test", "target.runtime_libraries", at("target", "runtime_libraries")),
    _tested("recipe", "target.recipe", at("target", "recipe")),
    _tested("recipe_options", "target.recipe_options", at("target", "recipe_options")),
    _tested("launch_arguments", _COMMAND, launch_arguments),
    _tested("cache_type", _COMMAND, cache_type),
    _later("batch_sizes", "under_test", _COMMAND, batch_sizes),
    _tested("speculation", _COMMAND, drafting),
    _tested("chat_template", "target.chat_template_digest", at("target", "chat_template_digest")),
    _tested(
        "driver",
        "host.driver host.gpu_driver target.driver",
        _of_host("driver"),
        _of_host("gpu_driver"),
        at("target", "driver"),
    ),
    _tested("kernel", "host.kernel", _of_host("kernel")),
    _installed("rocm"),
    _installed("mesa"),
    _installed("vulkan_loader"),
    _installed("vulkan_drivers"),
    _installed("linux_firmware"),
    _installed("gpu_firmware", "firmware"),
    _installed("vbios"),
    _installed("gtt_bytes"),
    _installed("vram_bytes"),
    _noted("testbed", "target.testbed"),
    _noted("asked_as", "target.model"),
    _noted("model_name", "target.model_resolved"),
    _noted("address", "target.base_url"),
    _noted("models_loaded", "target.models_loaded"),
    _in_header("architecture"),
    _in_header("model_title", "name"),
    _in_header("trained_context", "context_length"),
    _in_header("blocks", "block_count"),
    _in_header("experts", "expert_count"),
    _in_header("experts_used", "expert_used_count"),
    _in_header("quantised_by", "quantized_by"),
    _in_header("template_in_file", "chat_template_sha256"),
    _in_header("tokenizer", "tokenizer_sha256"),
    _later("model_meta", "noted", "target.model_meta", at("target", "model_meta")),
    _later("served_by", "noted", "target.system_info", at("target", "system_info")),
    _noted("duration_s", "plan", at("plan", "duration_s")),
    _noted("os", "host.os"),
    _later("gpu", "noted", "host.gpu", _of_host("gpu")),
    _noted("cores", "host.cores"),
    _noted("power_profile", "host.power_profile", _of_host("power_profile")),
    _noted("governor", "host.governor", _of_host("governor")),
    _noted("tester", "versions.soakproof"),
)
