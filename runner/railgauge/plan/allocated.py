"""`hosts: {slurm: all}`: the nodes of the Slurm allocation we run in, in place of written hosts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import yaml
from pydantic import GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from railgauge.base.errors import FileProblems
from railgauge.plan.yamlfile import Document, loads
from railgauge.schedulers.slurm.allocation import OUTSIDE, current_job, nodes

_ALL = {"slurm": "all"}


class OrAllocation:
    """In the JSON Schema, lets `{slurm: all}` stand in place of what it annotates."""

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        all_nodes = {
            "type": "object",
            "description": "the nodes of the Slurm allocation that the run is in",
            "properties": {"slurm": {"const": "all"}},
            "required": ["slurm"],
            "additionalProperties": False,
        }
        return {"anyOf": [handler(schema), all_nodes]}


@dataclass(slots=True)
class Allocated:
    """The hosts that `{slurm: all}` stands for.

    `nodes` is them as YAML, where they are known; else Slurm is asked. `used` is what was filled
    in, None as long as nothing was.
    """

    nodes: str | None = None
    used: str | None = None

    def fill(self, document: Document) -> Document:
        """Return the document of a plan or hosts file with its hosts written out.

        Raises FileProblems outside an allocation, EnvironmentFailedError if Slurm gives no answer.
        """
        data = document.data
        if not isinstance(data, dict) or data.get("hosts") != _ALL:
            return document
        if self.used is None:
            self.used = self.nodes
        if self.used is None:
            self.used = yaml.safe_dump(_ask(document), sort_keys=False, allow_unicode=True)
        hosts = loads(self.used, "the allocation's hosts").data
        return replace(document, data={**data, "hosts": hosts})


def _ask(document: Document) -> dict[str, Any]:
    job = current_job()
    if job is None:
        raise FileProblems([document.problem(("hosts", "slurm"), OUTSIDE)])
    return {
        node.name: {"address": node.address, "transport": "slurm", "node": node.name}
        for node in nodes(job)
    }
