"""Digests of files: whole, kept, of the ends; and a cache that nothing depends on."""

import hashlib
import json
import os
import time
from pathlib import Path

import pytest

from soakproof.inventory import digests
from soakproof.inventory.cache import FOLDER, Cache, folder
from soakproof.inventory.digests import Digests, rests_on
from soakproof.inventory.shards import shards, together


def written(path: Path, content: bytes, age_s: float = 60) -> str:
    """A file that was last changed so long ago."""
    path.write_bytes(content)
    then = time.time() - age_s
    os.utime(path, (then, then))
    return str(path)


def of(path: str, cache: Path, **more: object) -> dict[str, object]:
    found = Digests(Cache(cache), until=None, **more).of(path)  # type: ignore[arg-type]
    assert found is not None
    return found


def test_a_file_is_read_whole_once_and_then_kept(tmp_path: Path) -> None:
    path = written(tmp_path / "m.gguf", b"x" * 3_000_000)
    first, again = of(path, tmp_path), of(path, tmp_path)
    assert (first["read"], again["read"]) == ("whole", "kept")
    assert first["sha256"] == again["sha256"] == hashlib.sha256(b"x" * 3_000_000).hexdigest()
    assert rests_on(first, path) == f"{path}: the whole"
    assert rests_on(again, path).endswith(f"on {again['kept_at']}, of the same size, time and inode")
    assert again["kept_at"] == time.strftime("%Y-%m-%d", time.gmtime())


@pytest.mark.parametrize("how", ["content and time", "content and size", "another file"])
def test_a_file_that_is_another_is_read_anew(tmp_path: Path, how: str) -> None:
    path = tmp_path / "m.gguf"
    before = of(written(path, b"x" * 1000), tmp_path)
    if how == "another file":
        kept = path.stat()
        written(tmp_path / "new", b"y" * 1000)
        os.replace(tmp_path / "new", path)
        os.utime(path, ns=(kept.st_atime_ns, kept.st_mtime_ns))
    else:
        written(path, b"y" * (1000 if how == "content and time" else 1001), age_s=30)
    after = of(str(path), tmp_path)
    assert after["read"] == "whole"
    assert after["sha256"] != before["sha256"]


def test_a_file_written_just_now_is_not_kept(tmp_path: Path) -> None:
    path = written(tmp_path / "m.gguf", b"x" * 1000, age_s=0)
    assert [of(path, tmp_path)["read"] for _ in range(2)] == ["whole", "whole"]


def test_of_a_large_file_the_ends_are_told_unless_all_of_it_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(digests, "AT_ONCE", 1000)
    path = written(tmp_path / "m.gguf", b"x" * 5_000_000)
    ends = of(path, tmp_path)
    assert ends["read"] == "ends"
    assert "sha256" not in ends
    assert rests_on(ends, path) == f"{path}: the first and the last MiB alone"
    assert of(path, tmp_path, whole=True)["read"] == "whole"
    later = of(path, tmp_path)
    assert (later["read"], later["sha256_of_ends"]) == ("kept", ends["sha256_of_ends"])


def test_when_time_is_over_the_ends_are_told(tmp_path: Path) -> None:
    path = written(tmp_path / "m.gguf", b"x" * 9_000_000)
    found = Digests(Cache(tmp_path), until=time.monotonic() - 1).of(path)
    assert found is not None
    assert found["read"] == "ends"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"\xff\xfe",
        b'{"format": 9, "files": {}}',
        b'{"format": 1, "files": []}',
        b'{"format": 1, "files": {"%s": {"of": 1}}}',
    ],
)
def test_a_corrupt_cache_is_an_empty_one(tmp_path: Path, content: bytes) -> None:
    path = written(tmp_path / "m.gguf", b"x")
    (tmp_path / "inventory.json").write_bytes(content.replace(b"%s", path.encode()))
    assert of(path, tmp_path)["read"] == "whole"
    assert of(path, tmp_path)["read"] == "kept"


def test_a_cache_that_is_no_digest_is_not_believed(tmp_path: Path) -> None:
    path = written(tmp_path / "m.gguf", b"x")
    of(path, tmp_path)
    file = tmp_path / "inventory.json"
    document = json.loads(file.read_bytes())
    document["files"][path]["told"]["sha256"] = ["a"] * 64
    file.write_text(json.dumps(document))
    assert of(path, tmp_path)["read"] == "whole"


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    path = written(tmp_path / "m.gguf", b"x")
    assert of(path, tmp_path / "file" / "below")["read"] == "whole"


def test_where_the_cache_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FOLDER, "/x/y")
    assert folder() == Path("/x/y")
    monkeypatch.delenv(FOLDER)
    monkeypatch.setenv("XDG_CACHE_HOME", "/c")
    assert folder() == Path("/c/soakproof")


def test_shards_of_a_model() -> None:
    assert shards("/m/x-00002-of-00003.gguf") == [f"/m/x-0000{n}-of-00003.gguf" for n in (1, 2, 3)]
    for whole in (
        "/m/x.gguf",
        "/m/x-00004-of-00003.gguf",
        "/m/x-00000-of-00000.gguf",
        "x-00001-of-99999.gguf",
    ):
        assert shards(whole) == [whole]


def test_shards_together_are_as_sure_as_the_least_sure(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    paths = [written(tmp_path / f"x-0000{n}-of-00002.gguf", b"%d" % n) for n in (1, 2)]
    told = [(path, Digests(cache, until=None).of(path)) for path in paths]
    found = together(told)
    assert (found["count"], found["bytes"], found["read"]) == (2, 2, "whole")
    assert together(list(reversed(told)))["sha256_of_shards"] != found["sha256_of_shards"]
    unsure = {**(told[1][1] or {}), "read": "ends"}
    del unsure["sha256"]
    less = together([told[0], (paths[1], unsure)])
    assert "sha256_of_shards" not in less
    assert (less["read"], less["sha256_of_shards_ends"]) == ("ends", found["sha256_of_shards_ends"])
    assert rests_on({"shards": less}, "x") == "x and the 1 beside it: the first and the last MiB alone"
    assert "not every part" in rests_on({"shards": together([told[0], (paths[1], None)])}, "x")
    assert together([told[0], (paths[1], None)]) == {
        "count": 2,
        "bytes": 1,
        "missing": ["x-00002-of-00002.gguf"],
    }
