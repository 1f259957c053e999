"""Addresses of networks: ``192.168.1.0/24`` and its mask, MAC and IP addresses, ports."""

from __future__ import annotations

import ipaddress
import re

from grpo_env.lazy_regex import lazy_compile

_MAC = lazy_compile(
    r"[0-9A-F]{2}(?:([:-])[0-9A-F]{2})(?:\1[0-9A-F]{2}){4}|[0-9A-F]{4}(?:\.[0-9A-F]{4}){2}|[0-9A-F]{12}", re.I
)
_IP = lazy_compile(r"\[?((?=[^:]*:[^:]*:)[0-9A-F:.]{2,45})\]?(/\d{1,3})?", re.IGNORECASE)
_IPV4 = r"\d{1,3}(?:\.\d{1,3}){3}"
_NETWORK = lazy_compile(
    rf"(?:(?P<address>{_IPV4}) ?)?/ ?(?P<length>\d{{1,2}})"
    rf"|(?:(?P<address_>{_IPV4})(?:,? with (?:an? |the )?| ?/ ?|,? \(?))?(?:(?:(?:sub)?net ?)?mask(?: of|:)? )?"
    rf"(?P<mask>255(?:\.\d{{1,3}}){{3}}|0\.0\.0\.0)\)?",
    re.IGNORECASE,
)
_MASK_AND_LENGTH = lazy_compile(
    rf"(?P<mask>{_IPV4}),? \(?(?:or |CIDR )?/(?P<length_>\d{{1,2}})\)?"
    rf"|/(?P<length>\d{{1,2}}),? \(?(?:or )?(?P<mask_>{_IPV4})\)?"
)
_PORT = lazy_compile(
    r"(?:the )?(?:(?P<before>TCP|UDP|SCTP)(?: ?/ ?| port | )(?P<first>\d{1,5})"
    r"|(?:port )?(?P<last>\d{1,5})(?: ?/ ?| ?\(| )(?P<behind>TCP|UDP|SCTP)\)?)",
    re.IGNORECASE,
)


def mac(text: str) -> str | None:
    """``00:1A:2B:3C:4D:5E``, ``00-1a-2b-3c-4d-5e`` and ``001a.2b3c.4d5e``."""
    return re.sub("[^0-9a-f]", "", text.lower()) if _MAC.fullmatch(text) else None


def ip(text: str) -> str | None:
    """``2001:db8::1``, however many of its zeros are written."""
    match = _IP.fullmatch(text)
    if match is None:
        return None
    try:
        return f"{ipaddress.IPv6Address(match[1])}{match[2] or ''}"
    except ValueError:
        return None


def network(text: str) -> str | None:
    """``192.168.1.0/26``, ``192.168.1.0/255.255.255.192`` and "192.168.1.0 with subnet mask 255.255.255.192"."""
    match = _NETWORK.fullmatch(text)
    if match is None:
        return _mask(text)
    address = match["address"] or match["address_"]
    try:
        length = ipaddress.IPv4Network(f"0.0.0.0/{match['length'] or match['mask']}").prefixlen
        return f"{ipaddress.IPv4Address(address) if address else ''}/{length}"
    except ValueError:
        return None


def _mask(text: str) -> str | None:
    """``255.255.255.192 (/26)`` and ``/26 (255.255.255.192)``, where both are the same mask."""
    match = _MASK_AND_LENGTH.fullmatch(text)
    if match is None:
        return None
    mask, other = (match["mask"], match["length_"]) if match["mask"] else (match["mask_"], match["length"])
    found = network(mask)
    return found if found and found == network(f"/{other}") else None


def port(text: str) -> str | None:
    """``TCP port 443``, ``443/TCP``, ``port 443 (TCP)`` and ``TCP/443``."""
    match = _PORT.fullmatch(text)
    return match and f"{(match['before'] or match['behind']).upper()} {match['first'] or match['last']}"
