"""What commands say of a bundle: what is in it, and whether it is as it was made."""

import sys
from pathlib import Path

from soakproof.cli.output import say, working
from soakproof.cli.reading import is_file
from soakproof.errors import EXIT_FAIL, EXIT_OK, UsageError
from soakproof.judge.telling import counted
from soakproof.plain import listed, plain
from soakproof.run import VERDICTS
from soakproof.run import bundle as bundles

PIPE = "-"


def is_bundle_name(name: str) -> bool:
    """Whether a name is a file's, or standard input's, and so no run's."""
    return name == PIPE or is_file(name)


def verify_bundle(name: str) -> int:
    """Check a bundle and say what it proves; the exit code."""
    shown = "standard input" if name == PIPE else plain(name, 300)
    with working(f"verifying {shown}"):
        state = _check(name, shown)
    kept = counted(len(state.manifest.kept), "file") if state.manifest else "a manifest that cannot be read"
    whole = "NOT as it was bundled" if state.problems else "as it was bundled"
    say(f"{shown}: {kept}, {state.size:,} bytes, {whole}")
    say(f"  sha256 {state.sha256}")
    for problem in state.problems:
        say(f"  {plain(problem, 300)}")
    if state.manifest and not state.problems:
        for line in about(state.manifest, state.recovered):
            say(f"  {line}")
    return EXIT_FAIL if state.problems else EXIT_OK


def _check(name: str, shown: str) -> bundles.BundleState:
    try:
        if name == PIPE:
            return bundles.check_bundle(sys.stdin.buffer)
        if not Path(name).is_file():
            raise UsageError(
                f"{shown} is no plain file", f"a bundle comes from a file, or from a pipe: {PIPE}"
            )
        with open(name, "rb") as source:
            return bundles.check_bundle(source)
    except bundles.NoArchiveError as error:
        hint = "a bundle is the tar that `soakproof bundle RUN -o FILE` writes"
        if "compressed" in str(error):
            hint = f"unpack that layer first, into a file or a pipe to `soakproof verify {PIPE}`"
        raise UsageError(f"{shown} is no bundle: it is {error}", hint) from error
    except OSError as error:
        raise UsageError(f"{shown} cannot be read: {error.strerror}") from error


def about(manifest: bundles.Manifest, recovered: bool) -> list[str]:
    """What is in a bundle that is as it was made, and what of it the seals prove."""
    told = [f"run {manifest.run}{', recovered after a crash' if recovered else ''}"]
    verdicts = sorted({p.split("/")[1] for p in manifest.parts if p.startswith(f"{VERDICTS}/")})
    left_out = "left out" if manifest.without_verdicts else "none in it"
    told.append(f"verdicts: {listed(verdicts, 20) or left_out}")
    parts = manifest.parts.items()
    sealed = sum(1 for _, part in parts if part.kept and not part.sealed)
    told.append(f"as sealed, to the byte: {counted(sealed, 'file')}")
    bare = [path for path, part in parts if part.kept and part.sealed]
    gone = [path for path, part in parts if not part.kept]
    if bare:
        told.append(f"without text, which no seal proves: {listed(bare, 20)}")
    if gone:
        told.append(f"taken out: {listed(gone, 20)}")
    return told
