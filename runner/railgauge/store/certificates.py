"""Certificates: what calibrations gave, in the order they were made."""

from __future__ import annotations

from dataclasses import asdict, fields

from sqlalchemy import Connection, select

from railgauge.base.certificate import Certificate, CertificateCheck
from railgauge.store.models import Base, CertificateRow, CheckRow
from railgauge.store.write import insert_rows, insert_with_ids, plain_text

_HEAD = tuple(entry.name for entry in fields(Certificate) if entry.name != "checks")
_CHECK = tuple(
    "tolerance" if entry.name == "limit" else entry.name for entry in fields(CertificateCheck)
)


def stored_certificates(connection: Connection) -> list[Certificate]:
    """Return the certificates by the time they were made."""
    checks: dict[int, list[CertificateCheck]] = {}
    columns = (getattr(CheckRow, name) for name in _CHECK)
    query = select(CheckRow.certificate_id, *columns).order_by(
        CheckRow.certificate_id, CheckRow.number
    )
    for certificate_id, *values in connection.execute(query):
        checks.setdefault(certificate_id, []).append(CertificateCheck(*values))
    heads = select(CertificateRow.id, *(getattr(CertificateRow, name) for name in _HEAD))
    return [
        Certificate(
            **dict(zip(_HEAD, values, strict=True)), checks=tuple(checks.get(certificate_id, ()))
        )
        for certificate_id, *values in connection.execute(
            heads.order_by(CertificateRow.made_at, CertificateRow.id)
        )
    ]


def insert_certificate(connection: Connection, certificate: Certificate) -> bool:
    """Store a certificate; False if it is stored already."""
    same = select(CertificateRow.id).where(CertificateRow.uid == certificate.uid)
    if connection.execute(same).first() is not None:
        return False
    table = Base.metadata.tables[CertificateRow.__tablename__]
    head = {name: getattr(certificate, name) for name in _HEAD}
    (certificate_id,) = insert_with_ids(connection, table, [head])
    rows = []
    for number, check in enumerate(certificate.checks, 1):
        row = {"certificate_id": certificate_id, "number": number, **asdict(check)}
        row["tolerance"] = row.pop("limit")
        row["reason"] = plain_text(check.reason)
        rows.append(row)
    insert_rows(connection, CheckRow.__table__, rows)
    return True
