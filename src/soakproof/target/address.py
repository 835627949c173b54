"""Addresses: as users write them, whether they are of this machine, and who listens there."""

import ipaddress
import re
import socket
from urllib.parse import SplitResult, urlsplit

import psutil

from soakproof.errors import UsageError
from soakproof.plain import plain
from soakproof.redaction import REMOVED, redacted
from soakproof.watch.settings import is_loopback

PREFIXES = ("/v1", "/api/v1")


def split_host(host: str) -> tuple[str, str | None]:
    """``http://host:port`` and the prefix that the address ended in, if any.

    Raises UsageError, without showing a user or a key, for what is no address of a server: to be asked before
    an address is printed.
    """
    parts = _parts(host)
    if parts is None:
        raise UsageError(
            f"--host: {_shown(host)!r} is not an address", f"write it as http://localhost:{_port_in(host)}"
        )
    if parts.username is not None or parts.query or parts.fragment:
        raise UsageError(
            "--host: the address has a user, a query or a fragment, and none is sent",
            f"give the server's root: http://localhost:{_port_in(host)}; a key goes into --api-key",
        )
    path = parts.path.rstrip("/")
    if path and path not in ("/v0", "/api/v0", *PREFIXES):
        raise UsageError(
            f"--host: {_shown(host)!r} has the path {_shown(path)!r}",
            f"give the server's root: {parts.scheme}://localhost:{_port_in(host)}",
        )
    try:
        port = parts.port
    except ValueError:
        port = 0
    if port == 0:
        raise UsageError(f"--host: {_shown(host)!r} has a port that is no port", "a port is 1 to 65535")
    return _root(parts, port), path or None


def _port_in(host: str) -> str:
    """The port that an address seems to have, for an example; Lemonade's where it has none."""
    found = re.search(r":(\d{1,5})(?=/|$)", host.strip().rpartition("@")[2])
    return found[1] if found else "13305"


def _shown(address: str) -> str:
    """An address that is refused, as it may be printed: without what may be a password or a key in it."""
    before, at, rest = address.rpartition("@")
    scheme, slashes, _ = before.partition("://")
    named = f"{scheme}{slashes}" if slashes else ""
    bare = re.sub(r"[?#].*", f"?{REMOVED}", f"{named}{REMOVED}@{rest}" if at else address, flags=re.DOTALL)
    return plain(redacted(bare, ()))


def backend_root(url: object) -> str | None:
    """The root of a backend's address, where that can only be this host's own; None for anything else.

    It is what a server said, and a server that names another host does not have it asked.
    """
    parts = _parts(url.strip()) if isinstance(url, str) else None
    if parts is None or parts.path.rstrip("/") not in ("", "/v1") or not is_loopback(f"//{parts.netloc}"):
        return None
    try:
        return _root(parts, parts.port)
    except ValueError:
        return None


def _parts(url: str) -> SplitResult | None:
    """The parts of an http address with a host name that can be looked up; None for anything else."""
    try:
        parts = urlsplit(url)
        (parts.hostname or "").encode("idna")
    except ValueError:  # which a name that cannot be is, too
        return None
    named = bool(parts.hostname) and url.isprintable() and " " not in url
    return parts if named and parts.scheme in ("http", "https") else None


def _root(parts: SplitResult, port: int | None) -> str:
    name = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return f"{parts.scheme}://{name}" + (f":{port}" if port else "")


def is_local(url: str) -> bool:
    """Whether the address is of this machine, so that its processes and loopback ports are ours to see."""
    name = urlsplit(url).hostname or ""
    try:
        addresses = {str(info[4][0]) for info in socket.getaddrinfo(name, None)}
    except (OSError, UnicodeError):
        return False
    own = {a.address.split("%")[0] for all_of in psutil.net_if_addrs().values() for a in all_of}
    return any(ipaddress.ip_address(a.split("%")[0]).is_loopback or a in own for a in addresses)


def listener(url: str) -> int | None:
    """The process that listens at an address of this host, where that may be seen."""
    port = urlsplit(url).port or 80
    try:
        listening = [c for c in psutil.net_connections("tcp") if c.status == psutil.CONN_LISTEN]
    except psutil.Error:
        return None
    return next((c.pid for c in listening if c.pid and getattr(c.laddr, "port", None) == port), None)
