"""Addresses: as users write them, whether they are of this machine, and who listens there."""

import ipaddress
import socket
from urllib.parse import urlsplit

import psutil

from soakproof.errors import UsageError

PREFIXES = ("/v1", "/api/v1")


def split_host(host: str) -> tuple[str, str | None]:
    """``http://host:port`` and the prefix that the address ended in, if any."""
    parts = urlsplit(host)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise UsageError(f"--host: {host!r} is not an address", "write it as http://localhost:13305")
    path = parts.path.rstrip("/")
    if path and path not in ("/v0", "/api/v0", *PREFIXES):
        raise UsageError(
            f"--host: {host!r} has the path {path!r}", "give the server's root: http://localhost:13305"
        )
    try:
        port = parts.port
    except ValueError:
        raise UsageError(f"--host: {host!r} has a port that is no port", "a port is 1 to 65535") from None
    name = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{name}" + (f":{port}" if port else ""), path or None


def is_local(url: str) -> bool:
    """Whether the address is of this machine, so that its processes and loopback ports are ours to see."""
    name = urlsplit(url).hostname or ""
    try:
        addresses = {str(info[4][0]) for info in socket.getaddrinfo(name, None)}
    except OSError:
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
