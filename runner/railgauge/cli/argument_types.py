"""Kinds of arguments, which complete themselves: runs, also as `latest`, and files that ship."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from railgauge.base.assets import find_shipped, shipped
from railgauge.base.errors import InputError, RailgaugeError

if TYPE_CHECKING:
    from railgauge.store import Store

LATEST = "latest"


def complete_engines(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return the engines, with what each measures."""
    from railgauge.plan.catalogue import load_catalogue

    engines = load_catalogue().engines
    return _items({name: engine.summary for name, engine in engines.items()}, incomplete)


def complete_baselines(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return the baselines of the database."""
    return _items(
        _stored(ctx, lambda store: {entry.name: entry.description for entry in store.baselines()}),
        incomplete,
    )


def complete_runs(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return the runs of the database, the newest first."""
    runs = _stored(
        ctx, lambda store: {str(run.id): run.plan for run in reversed(store.run_heads())}
    )
    return _items({LATEST: "the latest run", **runs}, incomplete)


def complete_selections(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return what can be compared: baselines and runs."""
    return [
        *complete_baselines(ctx, param, incomplete),
        *complete_runs(ctx, param, incomplete),
    ]


def _stored(ctx: click.Context, ask: Callable[[Store], dict[str, str]]) -> dict[str, str]:
    """Return what the database says, nothing where that can't be read."""
    try:
        from railgauge.store import Store

        with Store.open(ctx.params["where"], create=False) as store:
            return ask(store)
    except RailgaugeError:
        return {}


def latest_run(store: Store) -> int:
    """Return the run that began last; InputError where there is none."""
    runs = store.run_ids()
    if not runs:
        raise InputError(f"{store.name} holds no run yet: railgauge run PLAN makes one")
    return runs[-1]


class RunNumber(click.types.IntParamType):
    """A run of the database that `--db` names: its number, or `latest`."""

    name = "run"

    def __init__(self, say: Callable[[str], None] | None = None) -> None:
        """`say` is that of `Store.open`."""
        self._say = say

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """See `click.ParamType`; InputError where there is no run yet."""
        is_number = isinstance(value, int) or (isinstance(value, str) and value.isdecimal())
        if is_number:
            return super().convert(value, param, ctx)
        if value != LATEST or ctx is None:
            self.fail(f"{value!r} is no run: write its number, or {LATEST!r}", param, ctx)
        from railgauge.store import Store

        with Store.open(ctx.params["where"], create=False, say=self._say) as store:
            return latest_run(store)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """See `complete_runs`."""
        return complete_runs(ctx, param, incomplete)


class ShippedFile(click.Path):
    """A file, or the name of one that ships in the folder `kind`."""

    def __init__(self, kind: str) -> None:
        super().__init__(path_type=Path)
        self._kind = kind

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """See `click.ParamType`; InputError where it is neither."""
        return find_shipped(self._kind, str(value))

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return the names that ship, and let the shell add files."""
        names = _items(dict.fromkeys(shipped(self._kind), ""), incomplete)
        return [*names, *super().shell_complete(ctx, param, incomplete)]


def _items(texts: dict[str, str], incomplete: str) -> list[CompletionItem]:
    return [
        CompletionItem(name, help=text or None)
        for name, text in texts.items()
        if name.startswith(incomplete)
    ]
