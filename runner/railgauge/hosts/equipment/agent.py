"""A device's SNMP agent, asked for single values and for columns of tables."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Sequence
from typing import Any

from pyasn1.error import PyAsn1Error
from pyasn1.type.univ import OctetString
from pysnmp.error import PySnmpError
from pysnmp.hlapi.v3arch import asyncio as hlapi
from pysnmp.proto import errind
from pysnmp.proto.rfc1905 import EndOfMibView, NoSuchInstance, NoSuchObject

from railgauge.base.errors import EquipmentError
from railgauge.hosts.equipment.credentials import Credentials
from railgauge.plan.equipment import Equipment

_TIMEOUT = 1.0
_RETRIES = 2
# For all of one reading: a device that answers each question late is given up.
_DEADLINE = 30.0
_ROWS_AT_ONCE = 25
_MOST_ROWS = 20_000
_TOO_BIG = 1
_NO_ACCESS, _NO_AUTHORITY = 6, 16
_AUTHENTICATION = {
    None: hlapi.USM_AUTH_NONE,
    "MD5": hlapi.USM_AUTH_HMAC96_MD5,
    "SHA": hlapi.USM_AUTH_HMAC96_SHA,
    "SHA-224": hlapi.USM_AUTH_HMAC128_SHA224,
    "SHA-256": hlapi.USM_AUTH_HMAC192_SHA256,
    "SHA-384": hlapi.USM_AUTH_HMAC256_SHA384,
    "SHA-512": hlapi.USM_AUTH_HMAC384_SHA512,
}
_PRIVACY = {
    None: hlapi.USM_PRIV_NONE,
    "DES": hlapi.USM_PRIV_CBC56_DES,
    "AES": hlapi.USM_PRIV_CFB128_AES,
    "AES-192": hlapi.USM_PRIV_CFB192_AES_BLUMENTHAL,
    "AES-256": hlapi.USM_PRIV_CFB256_AES_BLUMENTHAL,
    "AES-192-C": hlapi.USM_PRIV_CFB192_AES,
    "AES-256-C": hlapi.USM_PRIV_CFB256_AES,
}
_ABSENT = (NoSuchObject, NoSuchInstance, EndOfMibView)
# What an agent, or the library for it, says is wrong -> what to do about it.
_REMEDIES: tuple[tuple[type[Exception], str], ...] = (
    (errind.UnknownUserName, "it knows no such user: mend 'user', or add that there"),
    (errind.WrongDigest, "the authentication key is wrong, or its kind is: mend it"),
    (errind.AuthenticationFailure, "the authentication key is wrong, or its kind is: mend it"),
    (errind.DecryptionError, "the privacy key is wrong, or its kind is: mend it"),
    (errind.UnsupportedSecurityLevel, "it wants authentication or privacy, or has none: mend that"),
    (errind.NotInTimeWindow, "its clock and ours have come apart: try again"),
)

Value = int | str


class Agent:
    """The agent of one device, within one event loop. Raises EquipmentError where it fails."""

    def __init__(self, name: str, device: Equipment, credentials: Credentials) -> None:
        self._where = f"equipment {name!r} ({device.address}, UDP port {device.port})"
        self._device = device
        self._authority = _authority(device, credentials)
        self._engine = hlapi.SnmpEngine()
        self._target: Any = None
        self._deadline = asyncio.get_running_loop().time() + _DEADLINE

    def close(self) -> None:
        """Close its socket."""
        self._engine.close_dispatcher()

    async def get(self, oids: Sequence[str]) -> dict[str, Value]:
        """Return the values of those of `oids` that the device has."""
        status, bindings = await self._ask(hlapi.get_cmd, oids)
        if status == _TOO_BIG and len(oids) > 1:
            half = len(oids) // 2
            return {**await self.get(oids[:half]), **await self.get(oids[half:])}
        self._check(status)
        values = {oid: _value(value) for oid, value in bindings}
        return {oid: value for oid, value in values.items() if value is not None}

    async def column(self, oid: str) -> dict[int, str]:
        """Return the texts of a table's column by row, `oid` being the column's."""
        rows: dict[int, str] = {}
        last = oid
        while len(rows) < _MOST_ROWS:
            status, bindings = await self._ask(hlapi.bulk_cmd, [last], 0, _ROWS_AT_ONCE)
            self._check(status)
            for name, value in bindings:
                row = name.removeprefix(f"{oid}.")
                text = _value(value)
                if row == name or not row.isdecimal() or text is None or int(row) in rows:
                    return rows
                rows[int(row)] = str(text)
            if not bindings:
                return rows
            last = bindings[-1][0]
        raise EquipmentError(f"{self._where} lists no end of interfaces: give an ifIndex instead")

    async def _ask(
        self, command: Callable[..., Any], oids: Sequence[str], *options: int
    ) -> tuple[int, list[tuple[str, Any]]]:
        """Return the status of an answer and its values by OID."""
        try:
            async with asyncio.timeout_at(self._deadline):
                if self._target is None:
                    self._target = await self._resolve()
                indication, status, _, bindings = await command(
                    self._engine,
                    self._authority,
                    self._target,
                    hlapi.ContextData(contextName=self._device.snmp.context or ""),
                    *options,
                    *(hlapi.ObjectType(hlapi.ObjectIdentity(oid)) for oid in oids),
                    lookupMib=False,
                )
        except TimeoutError:
            message = f"{self._where} takes more than {_DEADLINE:.0f} s for its answers"
            raise EquipmentError(f"{message}: give it less to do") from None
        except (PySnmpError, PyAsn1Error, OSError) as error:
            raise EquipmentError(f"{self._where} can't be asked by SNMP: {error}") from error
        if indication:
            raise EquipmentError(self._indication_message(indication))
        return int(status), [(str(name), value) for name, value in bindings]

    async def _resolve(self) -> Any:
        address, port = self._device.address, self._device.port
        try:
            endpoints = await asyncio.get_running_loop().getaddrinfo(
                address, port, type=socket.SOCK_DGRAM
            )
        except OSError as error:
            message = f"{self._where} can't be found: {error.strerror}"
            raise EquipmentError(f"{message}: mend its address") from error
        family, *_, socket_address = endpoints[0]
        six = family == socket.AF_INET6
        kind = hlapi.Udp6TransportTarget if six else hlapi.UdpTransportTarget
        return await kind.create(socket_address[:2], _TIMEOUT, _RETRIES)

    def _indication_message(self, indication: Exception) -> str:
        for kind, remedy in _REMEDIES:
            if isinstance(indication, kind):
                return f"{self._where} refuses to answer by SNMP: {remedy}"
        if not isinstance(indication, errind.RequestTimedOut):
            return f"{self._where} answers SNMP with an error: {indication}"
        keys = "community" if self._device.snmp.version == "2c" else "user and keys"
        return (
            f"{self._where} doesn't answer SNMP: check the address, that its agent lets this "
            f"machine ask, and the {keys}, as a wrong one may be met with silence"
        )

    def _check(self, status: int) -> None:
        if status in (_NO_ACCESS, _NO_AUTHORITY):
            message = f"{self._where} refuses to show its interfaces: let us read IF-MIB"
            raise EquipmentError(f"{message}, and ask with the keys that its agent wants")
        if status:
            raise EquipmentError(f"{self._where} answers SNMP with the error status {status}")


def _authority(device: Equipment, credentials: Credentials) -> Any:
    snmp = device.snmp
    if snmp.version == "2c":
        return hlapi.CommunityData(credentials.community, mpModel=1)  # noqa: S508 - many devices have no other
    return hlapi.UsmUserData(
        snmp.user,
        authKey=credentials.authentication_key or None,
        privKey=credentials.privacy_key or None,
        authProtocol=_AUTHENTICATION[snmp.authentication],
        privProtocol=_PRIVACY[snmp.privacy],
    )


def _value(value: Any) -> Value | None:
    if isinstance(value, _ABSENT):
        return None
    if isinstance(value, OctetString):
        return bytes(value).decode("utf-8", "replace")
    try:
        return int(value)
    except (TypeError, ValueError, PyAsn1Error):
        return None
