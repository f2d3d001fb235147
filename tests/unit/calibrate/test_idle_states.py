"""How late an idle CPU comes back: by the states that it may be in, or as a hypervisor likes."""

from __future__ import annotations

from pathlib import Path

import pytest

from railgauge.calibrate.idle_states import HALTED, longest_wake_up


def machine(root: Path, *, flags: str = "", boot: str = "", **states: tuple[str, str]) -> Path:
    """Make the files that a kernel has; of each state its latency (us) and whether it is off."""
    texts = {"proc/cmdline": f"quiet {boot}\n", "proc/cpuinfo": f"flags : fpu {flags}\n"}
    for name, (latency, disable) in states.items():
        folder = f"sys/devices/system/cpu/cpu0/cpuidle/{name}"
        texts |= {f"{folder}/latency": f"{latency}\n", f"{folder}/disable": f"{disable}\n"}
    for name, text in texts.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return root


@pytest.mark.parametrize(
    ("settings", "seconds"),
    [
        ({"state0": ("0", "0"), "state1": ("2", "0")}, 2e-6),
        ({"state1": ("2", "0"), "state2": ("85", "1")}, 2e-6),
        ({"state1": ("2", "0"), "state2": ("85", "0")}, 85e-6),
        ({"state1": ("890", "0")}, HALTED),
        # A hypervisor's guest doesn't know, nor does a kernel without states.
        ({"state1": ("1", "0"), "flags": "hypervisor"}, HALTED),
        ({}, HALTED),
        ({"boot": "idle=poll", "flags": "hypervisor"}, 0.0),
    ],
)
def test_the_deepest_state_in_use_counts(
    tmp_path: Path, settings: dict[str, object], seconds: float
) -> None:
    root = machine(tmp_path, **settings)  # type: ignore[arg-type]
    assert longest_wake_up(root) == pytest.approx(seconds)
