"""llama.cpp's command line as options: every spelling under one name, in whatever order. Pure.

An option's name is the first of its line below (``-c`` is ``--ctx-size``); one that is not known here keeps
its own, so an option of tomorrow is compared as well. A value may follow after a space or an equals sign.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

_SPELLINGS = """
--alias -a
--batch-size -b
--cache-ram -cram
--cache-type-k -ctk
--cache-type-v -ctv
--cache-type-k-draft -ctkd --spec-draft-type-k
--cache-type-v-draft -ctvd --spec-draft-type-v
--checkpoint-min-step -cms
--cont-batching -cb
--no-cont-batching -nocb
--cpu-mask -C
--cpu-mask-batch -Cb
--cpu-moe -cmoe
--cpu-moe-draft -cmoed --spec-draft-cpu-moe
--cpu-range -Cr
--cpu-range-batch -Crb
--ctx-checkpoints -ctxcp --swa-checkpoints
--ctx-size -c
--ctx-size-draft -cd
--defrag-thold -dt
--device -dev
--device-draft -devd --spec-draft-device
--draft-max --draft --draft-n --spec-draft-n-max
--draft-min --draft-n-min --spec-draft-n-min
--draft-p-min --spec-draft-p-min
--draft-p-split --spec-draft-p-split
--fit -fit
--fit-ctx -fitc
--fit-target -fitt
--flash-attn -fa
--gpu-layers -ngl --n-gpu-layers
--gpu-layers-draft -ngld --n-gpu-layers-draft --spec-draft-ngl
--hf-file -hff
--hf-repo -hf -hfr
--hf-repo-draft -hfd -hfrd --spec-draft-hf
--hf-token -hft
--json-schema -j
--json-schema-file -jf
--kv-offload -kvo
--no-kv-offload -nkvo
--kv-unified -kvu
--no-kv-unified -no-kvu
--load-mode -lm
--logit-bias -l
--lookup-cache-dynamic -lcd
--lookup-cache-static -lcs
--main-gpu -mg
--mmproj -mm
--mmproj-device -mmdev
--mmproj-url -mmu
--model -m
--model-draft -md --spec-draft-model
--model-url -mu
--docker-repo -dr
--n-cpu-moe -ncmoe
--n-cpu-moe-draft -ncmoed --spec-draft-n-cpu-moe --spec-draft-ncmoe
--n-predict -n --predict
--no-repack -nr
--override-tensor -ot
--override-tensor-draft -otd --spec-draft-override-tensor
--parallel -np
--reasoning -rea
--reverse-prompt -r
--seed -s
--slot-prompt-similarity -sps
--special -sp
--split-mode -sm
--temp --temperature
--tensor-split -ts
--threads -t
--threads-batch -tb
--threads-batch-draft -tbd --spec-draft-threads-batch
--threads-draft -td --spec-draft-threads
--timeout -to
--top-n-sigma --top-nsigma
--typical --typical-p
--ubatch-size -ub
--verbose -v --log-verbose
--verbosity -lv --log-verbosity
"""
_NAMES = {word: line.split()[0] for line in _SPELLINGS.strip().split("\n") for word in line.split()}
# Each time that one of these is given adds to the others; of all else the last counts.
_ADDING = frozenset(
    {"--lora", "--lora-scaled", "--control-vector", "--control-vector-scaled", "--override-tensor"}
    | {
        "--override-tensor-draft",
        "--override-kv",
        "--logit-bias",
        "--reverse-prompt",
        "--dry-sequence-breaker",
    }
)
_NUMBER = re.compile(r"-[0-9.]+")
# Which file, where it listens and what it logs: they change by themselves and shape no answer.
ADDRESSES = frozenset(
    {
        "--host",
        "--port",
        "--alias",
        "--tags",
        "--model",
        "--model-url",
        "--hf-repo",
        "--hf-file",
        "--docker-repo",
    }
    | {"--log-file", "--api-key-file", "--ssl-key-file", "--ssl-cert-file", "--slot-save-path", "--path"}
)
SECRETS = frozenset({"--api-key", "--hf-token"})


def options(words: Sequence[str]) -> dict[str, str]:
    """Options by name with their values; a switch without one has "given". ``words`` follow the program's."""
    found: dict[str, str] = {}
    for name, value in _pairs(words):
        before = found.get(name)
        found[name] = f"{before} {value}" if before is not None and name in _ADDING else value
    return found


def shaping(words: Sequence[str]) -> dict[str, str]:
    """The options that shape what the server does, by name: no address, model file or log, and no secret."""
    return {name: value for name, value in sorted(options(words).items()) if name not in ADDRESSES | SECRETS}


def _pairs(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    place = 0
    while place < len(words):
        word, after = words[place], words[place + 1 : place + 2]
        place += 1
        if not word.startswith("-") or word in ("-", "--"):
            continue
        name, equals, value = word.partition("=")
        if equals and name.startswith("--"):
            yield _NAMES.get(name, name), value
        elif after and (not after[0].startswith("-") or _NUMBER.fullmatch(after[0])):
            yield _NAMES.get(word, word), after[0]
            place += 1
        else:
            yield _NAMES.get(word, word), "given"


def speculation(given: Mapping[str, str]) -> dict[str, str]:
    """The options among these that are about drafting tokens, the draft's model by its file's name."""
    about = {
        name: value
        for name, value in given.items()
        if "draft" in name or name.startswith(("--spec-", "--lookup-cache"))
    }
    if "--model-draft" in about:
        about["--model-draft"] = file_name(about["--model-draft"])
    return about


def file_name(path: str) -> str:
    """The last part of a path of any system, without .gguf."""
    return re.split(r"[/\\]", path)[-1].removesuffix(".gguf")
