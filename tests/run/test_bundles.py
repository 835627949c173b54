"""A bundle is the same to the byte wherever it is made, and a changed byte of it is found and named."""

import hashlib
import io
import os
import random
import shutil
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rundirs import RAW, begun, orphaned, sealed

from soakproof.errors import RecorderError, UsageError
from soakproof.report.store import store
from soakproof.run import recover, to_json, verify
from soakproof.run.bundle import MANIFEST, BundleState, NoArchiveError, check_bundle, write_bundle
from soakproof.run.bundle.archive import BLOCK, end, header, is_plain_path, padding

VERDICT = to_json(
    {"outcome": "PASS", "findings": [{"outcome": "PASS", "answer": "All of it is well."}]}
).decode()
REPORTS = {"verdict.json": VERDICT, "report.md": "# PASS\n", "figures/slots.svg": "<svg/>\n"}


def bundled(run: Path, *, text: bool = True, verdicts: bool = True) -> bytes:
    to = io.BytesIO()
    write_bundle(run, to, text=text, verdicts=verdicts)
    return to.getvalue()


def checked(data: bytes) -> BundleState:
    return check_bundle(io.BytesIO(data))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = sealed(tmp_path_factory.mktemp("runs"))
    store(path, "default", REPORTS)
    (path / "watch.log").write_text("no seal has this\n")
    return path


@pytest.fixture(scope="module", params=[True, False], ids=["whole", "without text"])
def bundle(request: pytest.FixtureRequest, run: Path) -> bytes:
    return bundled(run, text=request.param)


def test_it_is_as_it_was_made(bundle: bytes) -> None:
    state = checked(bundle)
    assert (state.problems, state.size, state.recovered) == ((), len(bundle), False)
    assert state.verdicts == ("1-default",)


def test_a_plain_tar_unpacks_it_to_a_run_that_is_whole(run: Path, tmp_path: Path) -> None:
    with tarfile.open(fileobj=io.BytesIO(bundled(run))) as archive:
        assert {(m.mode, m.mtime, m.uid, m.gid, m.uname) for m in archive} == {(0o644, 0, 0, 0, "")}
        archive.extractall(tmp_path, filter="data")
    (unpacked,) = tmp_path.iterdir()
    assert verify(unpacked).problems == ()
    left = {p.relative_to(run) for p in run.rglob("*") if p.is_file()}
    got = {p.relative_to(unpacked) for p in unpacked.rglob("*") if p.is_file()}
    assert left - got == {Path("watch.log")}
    assert got - left == {Path(MANIFEST)}
    assert bundled(unpacked) == bundled(run)


def test_a_copy_elsewhere_gives_the_same_bytes(run: Path, bundle: bytes, tmp_path: Path) -> None:
    copy = shutil.copytree(run, tmp_path / "another name")
    for n, path in enumerate(sorted(copy.rglob("*"))):
        os.utime(path, (n, n))
        path.chmod(0o700 if path.is_dir() else 0o400)
    before = os.umask(0o077)
    try:
        assert bundle in (bundled(copy), bundled(copy, text=False))
    finally:
        os.umask(before)


def test_links_in_a_run_are_not_followed(run: Path, bundle: bytes, tmp_path: Path) -> None:
    copy = shutil.copytree(run, tmp_path / "copy")
    (copy / "secrets").symlink_to("/etc")
    (copy / "verdicts/2-mine").symlink_to("/etc")
    assert bundle in (bundled(copy), bundled(copy, text=False))


def parts(bundle: bytes) -> dict[str, tuple[int, int]]:
    """Where each file's content is."""
    with tarfile.open(fileobj=io.BytesIO(bundle)) as archive:
        return {m.name: (m.offset_data, m.size) for m in archive}


def test_a_byte_that_was_changed_in_any_part_is_found_and_named(bundle: bytes) -> None:
    draw = random.Random(1)
    for name, (start, size) in parts(bundle).items():
        for place in {start, start + size - 1, *(draw.randrange(start, start + size) for _ in range(8))}:
            changed = bytearray(bundle)
            changed[place] ^= 1 << draw.randrange(8)
            problems = checked(bytes(changed)).problems
            known = name.partition("/")[2].removeprefix("kept/")
            assert any(known in problem for problem in problems), (name, place - start, problems)


@settings(max_examples=60)
@given(data=st.data())
def test_a_byte_that_was_changed_anywhere_is_found(bundle: bytes, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(bundle) - 1))
    changed = bytearray(bundle)
    changed[place] ^= 1 << data.draw(st.integers(0, 7))
    assert not is_whole(bytes(changed))


@settings(max_examples=60)
@given(data=st.data())
def test_one_that_breaks_off_is_found(bundle: bytes, data: st.DataObject) -> None:
    assert not is_whole(bundle[: data.draw(st.integers(0, len(bundle) - 1))])


@settings(max_examples=60)
@given(st.binary(max_size=2000))
def test_anything_else_is_no_bundle(data: bytes) -> None:
    with pytest.raises(NoArchiveError):
        checked(data)


def is_whole(data: bytes) -> bool:
    try:
        return not checked(data).problems
    except NoArchiveError:
        return False


def rewritten(bundle: bytes, change: Callable[[list[tuple[str, bytes]]], object]) -> bytes:
    """A bundle made anew from its files after a change to the list of them."""
    with tarfile.open(fileobj=io.BytesIO(bundle)) as archive:
        files = [(m.name, bundle[m.offset_data : m.offset_data + m.size]) for m in archive]
    change(files)
    return b"".join(header(name, len(d)) + d + padding(len(d)) for name, d in files) + end()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda files: files.append(files[-1]), "there twice"),
        (lambda files: files.append((files[-1][0] + ".more", b"")), "not in the manifest"),
        (lambda files: files.pop(), "missing"),
        (lambda files: files.insert(1, files.pop()), "not in its place"),
        (lambda files: files.append(("elsewhere/run.json", b"{}")), "not in the manifest"),
    ],
)
def test_files_are_those_of_the_manifest(
    bundle: bytes, change: Callable[[list[tuple[str, bytes]]], object], told: str
) -> None:
    assert any(told in problem for problem in checked(rewritten(bundle, change)).problems)


def test_who_writes_a_new_manifest_has_the_seals_against_him(run: Path) -> None:
    """A manifest that agrees with what was changed does not help: the seal does not."""
    before, after = b'"tick"', b'"tock"'

    def change(files: list[tuple[str, bytes]]) -> None:
        sums = {}
        for n, (name, data) in enumerate(files):
            if name.endswith("events.jsonl"):
                files[n] = (name, data.replace(before, after))
                sums[hashlib.sha256(data).hexdigest()] = hashlib.sha256(files[n][1]).hexdigest()
        name, manifest = files[0]
        for old, new in sums.items():
            manifest = manifest.replace(old.encode(), new.encode())
        files[0] = (name, manifest)

    problems = checked(rewritten(bundled(run), change)).problems
    assert [p for p in problems if "load/events.jsonl: changed: not what was sealed" in p]


def odd_member(
    kind: bytes, name: bytes = b"x/SEAL", size: bytes = b"00000000000", link: bytes = b""
) -> bytes:
    """A header as another program may write it, with its checksum right."""
    block = bytearray(header("x/SEAL", 0))
    block[0:100] = name.ljust(100, b"\0")
    block[124:135] = size
    block[156:157] = kind
    block[157 : 157 + len(link)] = link
    block[148:156] = b"        "
    block[148:156] = f"{sum(block):06o}\x00 ".encode()
    return bytes(block)


@pytest.mark.parametrize(
    "member",
    [
        odd_member(b"2", link=b"/etc/passwd"),
        odd_member(b"1", link=b"run.json"),
        odd_member(b"3"),
        odd_member(b"5"),
        odd_member(b"S"),
        odd_member(b"x", size=b"00000000020"),
        odd_member(b"L", size=b"77777777777"),
        odd_member(b"0", name=b"../../etc/passwd"),
        odd_member(b"0", name=b"/etc/passwd"),
        odd_member(b"0", name=b"x/./SEAL"),
        odd_member(b"0", name=b"C:/x"),
        odd_member(b"0", name=b"x\\y"),
        odd_member(b"0", name=b"x/\xff"),
        odd_member(b"0", name=b"x/\x1b[2J"),
        odd_member(b"0", size=b"\x80\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"),
        odd_member(b"0", size=b"-0000000001"),
    ],
)
def test_what_no_bundle_has_is_refused(bundle: bytes, member: bytes) -> None:
    at = parts(bundle)
    (start, size) = at[next(iter(at))]
    after = start + size + len(padding(size))
    state = checked(bundle[:after] + member + bundle[after:])
    assert any("something follows that is no file" in problem for problem in state.problems)
    with pytest.raises(NoArchiveError):
        checked(member + bundle)


class Endless(io.RawIOBase):
    """A file that tells of a terabyte and has it; counts what is asked for at once."""

    def __init__(self, begin: bytes, length: int) -> None:
        self.begin, self.left, self.most = begin, length, 0

    def read(self, size: int = -1) -> bytes:
        self.most = max(self.most, size)
        if self.begin:
            data, self.begin = self.begin[:size], self.begin[size:]
            return data
        data = bytes(min(size, self.left))
        self.left -= len(data)
        return data


@pytest.mark.parametrize("name", [f"x/{MANIFEST}", "x/SEAL"])
def test_a_huge_size_takes_no_memory(bundle: bytes, name: str) -> None:
    """Of 8 GiB that are told 40 MiB are there; no more than a MiB is asked for at a time."""
    source = Endless(header(name, 8**11 - 1), 40 << 20)
    if name.endswith(MANIFEST):
        assert "more than 16 MiB" in check_bundle(source).problems[0]  # type: ignore[arg-type]
    else:
        with pytest.raises(NoArchiveError):
            check_bundle(source)  # type: ignore[arg-type]
    assert source.most <= 1 << 20


def test_what_follows_the_end_is_found(bundle: bytes) -> None:
    assert checked(bundle + b"\0").problems == ("something follows its end",)


def test_a_recovered_run_is_told(tmp_path: Path) -> None:
    run = orphaned(begun(tmp_path).path)
    recover(run)
    state = checked(bundled(run))
    assert (state.recovered, state.problems) == (True, ())


def test_a_file_that_changes_meanwhile_is_found(run: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(run, tmp_path / "copy")
    grows = copy / "evidence/load/events.jsonl"

    class Meddling(io.BytesIO):
        def write(self, data: object) -> int:
            grows.write_bytes(b"{}\n")
            return super().write(data)  # type: ignore[arg-type]

    with pytest.raises(UsageError, match=r"events\.jsonl: changed while it was bundled"):
        write_bundle(copy, Meddling())


def test_a_disk_that_is_full_is_told(run: Path) -> None:
    with open("/dev/full", "wb", buffering=0) as full, pytest.raises(RecorderError, match="No space left"):
        write_bundle(run, full)


def test_an_id_that_is_no_name_of_a_folder_becomes_one(tmp_path: Path) -> None:
    made = begun(tmp_path)
    made.document["id"] = "../../etc/x\x1b[2J é"
    made.save()
    made.seal(RAW)
    (first, *_) = parts(bundled(made.path))
    assert first == f"etc-x-2J/{MANIFEST}"


@settings(max_examples=60)
@given(
    st.lists(st.text("ab.-_/", min_size=1, max_size=90), min_size=1, max_size=3), st.integers(0, 8**11 - 1)
)
def test_headers_are_those_of_a_plain_tar(pieces: list[str], size: int) -> None:
    name = "/".join(pieces)
    try:
        block = header(name, size)
    except ValueError:
        assert len(name) > 100 or not is_plain_path(name)
        return
    read = tarfile.TarInfo.frombuf(block, "utf-8", "strict")
    assert (len(block), read.name, read.size, read.isreg()) == (BLOCK, name, size, True)
