"""Reads a plan with its hosts file and engine descriptions, and reports all mistakes at once."""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from railgauge.base.derived import derived_metrics
from railgauge.base.errors import FileProblems, InputError, Problem
from railgauge.base.real_path import real_path
from railgauge.base.suggestion import suggest
from railgauge.plan.allocated import Allocated, NodeNames
from railgauge.plan.catalogue import Catalogue, EngineInfo, load_catalogue
from railgauge.plan.hostlists import write_out
from railgauge.plan.model import Plan, Test
from railgauge.plan.places import read_places
from railgauge.plan.replication_rule import judged_metrics
from railgauge.plan.space import Place, Space, SpaceReader
from railgauge.plan.topology import Topology, read_topology
from railgauge.plan.validation import attempt
from railgauge.plan.yamlfile import Document, Mistake, load, loads, why_unreadable


@dataclass(frozen=True, slots=True)
class LoadedPlan:
    """A valid plan, its text, where it came from, and what its tests span.

    File names in the plan are relative to `directory`. `nodes` are, as YAML, the hosts that
    `{slurm: all}` stands for, None in a plan without; `hosts` is the hosts file that took the place
    of the plan's own.
    """

    plan: Plan
    text: str
    path: str
    directory: Path
    catalogue: Catalogue
    document: Document
    spaces: tuple[Space, ...]
    nodes: str | None = None
    hosts: Path | None = None


# A plan that stands in where one can't be read for its mistakes.
_LEAST: Mapping[str, Any] = {
    "railgauge": 1,
    "name": "unnamed",
    "tests": [{"name": "unnamed", "engine": "udp"}],
}


def load_plan(path: Path, names: NodeNames | None = None, hosts: Path | None = None) -> LoadedPlan:
    """Return the plan at `path`; FileProblems with every mistake in it and the files it names.

    `names` gives the nodes that `{slurm: all}` stands for, if not those of the allocation we are
    in. A hosts file `hosts` takes the place of the plan's own hosts or hosts file.
    """
    return _read(load(path), path.parent, Allocated(names=names), hosts)


def load_plan_text(
    text: str, name: str, directory: Path, nodes: str | None = None, hosts: Path | None = None
) -> LoadedPlan:
    """Return the plan that `text` is, as a run stored it; `name` stands for its path.

    `nodes` are what `{slurm: all}` stood for then, `hosts` the hosts file it was read with.
    """
    return _read(loads(text, name), directory, Allocated(nodes), hosts)


def _read(
    written: Document, directory: Path, allocated: Allocated, hosts: Path | None
) -> LoadedPlan:
    document = written if hosts is None else _with_hosts_file(written, real_path(hosts))
    document = write_out(allocated.fill(document))
    reader = _Reader(document, directory, allocated, hosts)
    plan, mistakes = attempt(document, Plan)
    if plan is None:
        reader.read_around(mistakes)
        raise FileProblems(reader.problems)
    return reader.read(plan)


def _with_hosts_file(document: Document, hosts: Path) -> Document:
    """Return the plan `document` with another hosts file in place of its own hosts."""
    if not isinstance(document.data, dict):
        return document
    rest = {key: value for key, value in document.data.items() if key != "hosts"}
    return replace(document, data={**rest, "hosts_file": str(hosts)})


class _Reader:
    """Collects the mistakes of one plan and of the files it names."""

    def __init__(
        self, document: Document, directory: Path, allocated: Allocated, hosts: Path | None
    ) -> None:
        self._allocated = allocated
        self._hosts = hosts
        self.problems: list[Problem] = []
        self._document = document
        self._directory = directory
        self._all_engines = True  # No description of an engine had to be left out.

    def read(self, plan: Plan) -> LoadedPlan:
        catalogue = self._catalogue(plan.engines)
        topology = self._topology(plan)
        spaces = list(self._spaces(dict(enumerate(plan.tests)), catalogue, topology))
        if all(test.engine in catalogue.engines for test in plan.tests):
            self._check_smallest(plan, catalogue)
            self._check_certifiable(plan, catalogue)
        if self.problems:
            raise FileProblems(self.problems)
        return LoadedPlan(
            plan.model_copy(update=topology.parts()),
            self._document.text,
            self._document.path,
            self._directory,
            catalogue,
            self._document,
            tuple(spaces),
            self._allocated.used,
            None if self._hosts is None else real_path(self._hosts),
        )

    def read_around(self, mistakes: Sequence[Mistake]) -> None:
        """Look for more mistakes in what the model's don't touch: tests and other files."""
        self.problems.extend(mistake.problem for mistake in mistakes)
        wrong_keys = {mistake.loc[0] for mistake in mistakes if mistake.loc}
        sound = {key: entry for key, entry in self._document.data.items() if key not in wrong_keys}
        catalogue = self._catalogue(sound.get("engines", []))
        topology = Topology()
        if not wrong_keys & {"hosts", "hosts_file", "equipment", "links", "groups", "mpi"}:
            frame = Plan.model_validate({**_LEAST, **sound, "tests": _LEAST["tests"]})
            topology = self._topology(frame)
        written = self._document.data.get("tests")
        touched: dict[str | int, list[Mistake]] = {}
        for mistake in mistakes:
            if mistake.loc[:1] == ("tests",) and len(mistake.loc) > 1:
                touched.setdefault(mistake.loc[1], []).append(mistake)
        tests = {
            index: test
            for index, entry in enumerate(written if isinstance(written, list) else [])
            if (test := _without(entry, index, touched.get(index, []))) is not None
        }
        list(self._spaces(tests, catalogue, topology, touched))

    def _report(self, message: str, *loc: str | int, key: bool = False) -> None:
        self.problems.append(self._document.problem(loc, message, key=key))

    def _catalogue(self, engines: Sequence[str]) -> Catalogue:
        paths = []
        for index, name in enumerate(engines):
            path = self._directory / name
            if reason := why_unreadable(path):
                self._report(f"the engine description {str(path)!r} {reason}", "engines", index)
                self._all_engines = False
            else:
                paths.append(path)
        try:
            return load_catalogue(paths)
        except FileProblems as error:
            self.problems.extend(error.problems)
            self._all_engines = False
            return load_catalogue()

    def _topology(self, plan: Plan) -> Topology:
        topology = read_topology(plan, self._document, self._directory, self._allocated)
        self.problems.extend(topology.problems)
        return topology

    def _spaces(
        self,
        tests: Mapping[int, Test],
        catalogue: Catalogue,
        topology: Topology,
        touched: Collection[object] = (),
    ) -> Iterator[Space]:
        """Yield each test's space; of the `touched`, which are not whole, check just the values."""
        names: dict[str, int] = {}
        for index, test in tests.items():
            if names.setdefault(test.name, index) != index:
                message = f"test {test.name!r} is already there: choose another name"
                self._report(message, "tests", index, "name")
            engine = self._engine(catalogue, index, test.engine)
            if engine is None:
                continue
            reader = SpaceReader(self._document, index, test, engine)
            whole = bool(topology.hosts) and index not in touched
            reader.read_parameters()
            places: list[Place] = []
            if whole:
                places = read_places(test, engine, reader.modes, topology, reader.report)
            space = reader.read(places)
            self.problems.extend(reader.problems)
            if space is not None:
                self._check_rule(space)
                yield space

    def _check_rule(self, space: Space) -> None:
        """See that each case of the test has a metric that its rule can judge."""
        rule, engine = space.test.rule, space.engine
        if rule is None:
            return
        loc = ("tests", space.index, "replications", "metric" if rule.metric else "until")
        if unknown := [name for name in rule.metric if name not in engine.metrics]:
            hint = suggest(unknown[0], engine.metrics) or f": see `railgauge engines {engine.name}`"
            self._report(f"engine {engine.name} has no metric {unknown[0]!r}{hint}", *loc)
            return
        for mode in space.modes:
            if not judged_metrics(rule, engine, mode):
                expected = ", ".join(rule.metric) or "metric of which more or less is better"
                self._report(
                    f"engine {engine.name} gives no {expected} in mode {mode}: name a metric that "
                    "says when there are enough replications, or write a number of them",
                    *loc,
                )

    def _check_smallest(self, plan: Plan, catalogue: Catalogue) -> None:
        """See that the changes that matter are of metrics that the plan's engines may give."""
        engines = [catalogue.engines[name] for name in {test.engine for test in plan.tests}]
        metrics = {"default", *derived_metrics(two_sided=True, soak=True)}
        metrics.update(*(engine.metrics for engine in engines))
        for name in plan.smallest_change:
            if name not in metrics:
                hint = suggest(name, metrics) or ": `railgauge engines NAME` prints its metrics"
                message = f"no engine of this plan gives a metric {name!r}{hint}"
                self._report(message, "smallest_change", name, key=True)

    def _check_certifiable(self, plan: Plan, catalogue: Catalogue) -> None:
        """See that a plan that requires a certificate has no engines that can't have one."""
        foreign = {test.engine for test in plan.tests if catalogue.engines[test.engine].program}
        if plan.require and foreign:
            self._report(
                f"{', '.join(sorted(foreign))} can't be certified, as `railgauge calibrate` "
                "compares railgauge's own engines with truths: leave 'require' out, or "
                "measure that in another plan",
                "require",
            )

    def _engine(self, catalogue: Catalogue, index: int, name: str) -> EngineInfo | None:
        try:
            return catalogue.engine(name)
        except InputError as error:
            if self._all_engines:
                self._report(str(error), "tests", index, "engine")
            return None


def _without(written: Any, index: int, mistakes: Sequence[Mistake]) -> Test | None:
    """Return a test without its mistaken keys, None if nothing can be made of the rest."""
    if not isinstance(written, dict):
        return None
    sound = copy.deepcopy(written)
    for mistake in mistakes:
        key, name = (*mistake.loc[2:4], "", "")[:2]
        if key in ("set", "grid") and name and isinstance(sound.get(key), dict):
            sound[key].pop(name, None)
        else:
            sound.pop(key, None)
    try:
        return Test.model_validate({"name": f"test {index}", **sound})
    except ValidationError:
        return None
