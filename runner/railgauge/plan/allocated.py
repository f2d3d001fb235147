"""`hosts: {slurm: all}`: the nodes of the allocation we run in, in place of written hosts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import yaml
from pydantic import GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from railgauge.base.errors import FileProblems
from railgauge.plan.yamlfile import Document, loads
from railgauge.schedulers import SCHEDULERS
from railgauge.schedulers.scheduler import Node, Scheduler

NodeNames = Callable[[Scheduler], Iterable[str]]


class OrAllocation:
    """In the JSON Schema, lets `{slurm: all}` stand in place of what it annotates."""

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        all_nodes = [
            {
                "type": "object",
                "description": f"the nodes of the {scheduler.title} allocation that the run is in",
                "properties": {name: {"const": "all"}},
                "required": [name],
                "additionalProperties": False,
            }
            for name, scheduler in SCHEDULERS.items()
        ]
        return {"anyOf": [handler(schema), *all_nodes]}


@dataclass(slots=True)
class Allocated:
    """The hosts that `{slurm: all}` stands for.

    `nodes` is them as YAML, where they are known; else the scheduler is asked, or `names` for the
    nodes of a job to come. `used` is what was filled in, None as long as nothing was.
    """

    nodes: str | None = None
    names: NodeNames | None = None
    used: str | None = None

    def fill(self, document: Document) -> Document:
        """Return the document of a plan or hosts file with its hosts written out.

        Raises FileProblems outside an allocation, EnvironmentFailedError without an answer.
        """
        data = document.data
        hosts = data.get("hosts") if isinstance(data, dict) else None
        name = next((name for name in SCHEDULERS if hosts == {name: "all"}), None)
        if name is None:
            return document
        if self.used is None:
            self.used = self.nodes
        if self.used is None:
            nodes = self._ask(SCHEDULERS[name], document)
            self.used = yaml.safe_dump(nodes, sort_keys=False, allow_unicode=True)
        hosts = loads(self.used, "the allocation's hosts").data
        return replace(document, data={**data, "hosts": hosts})

    def _ask(self, scheduler: Scheduler, document: Document) -> dict[str, Any]:
        if self.names is not None:
            nodes = tuple(Node(name, name) for name in self.names(scheduler))
        elif job := scheduler.current_job():
            nodes = scheduler.nodes(job)
        else:
            raise FileProblems([document.problem(("hosts", scheduler.name), scheduler.outside)])
        return {
            node.name: {"address": node.address, "transport": scheduler.name, "node": node.name}
            for node in nodes
        }
