"""rail-cpu's hot loops: nothing but arithmetic in registers, with right results."""

from __future__ import annotations

import platform
import re
import subprocess
from collections import Counter

import pytest
from tests.support.engine_cache import deploy_here

LOOP = re.compile(
    r"^[0-9a-f]+ <((?:avx512|avx2|avx|sse2|neon|scalar)"
    r"_(?:double|single|fp16|bf16|int16|int8|integer))>:\n"
    r"((?:.+\n)+)",
    re.M,
)
LINE = re.compile(r"^ *([0-9a-f]+):[ \t]+(\S+)[ \t]*(.*)$", re.M)
REALS = {
    "double": "vfmadd213pd",
    "single": "vfmadd213ps",
    "fp16": "vfmadd213ph",
    "bf16": "vdpbf16ps",
}
COUNTING = {"dec", "jne", "subs", "b.ne", "mov"}  # the loop's own; mov: none but arm64's

Instruction = tuple[str, list[str]]  # its name and operands


def _operands(text: str) -> list[str]:
    return [part.strip() for part in text.split("#")[0].split(",")]


def _body(text: str) -> list[Instruction]:
    """The longest stretch that a jump goes back over."""
    lines = LINE.findall(text)
    addresses = [address for address, _, _ in lines]
    best: list[Instruction] = []
    for at, (address, name, rest) in enumerate(lines):
        target = re.match(r"([0-9a-f]+) <", rest)
        if not target or not name.startswith(("j", "b.")):
            continue
        if target[1] in addresses and int(target[1], 16) < int(address, 16):
            body = lines[addresses.index(target[1]) : at + 1]
            if len(body) > len(best):
                best = [(n, _operands(r)) for _, n, r in body]
    return best


@pytest.fixture(scope="module")
def loops() -> dict[str, list[Instruction]]:
    """Each loop's instructions, as they stand in the program that measures: without sanitizers."""
    program = deploy_here() / "build/rail-cpu"
    listing = subprocess.run(
        ["objdump", "-d", "--no-show-raw-insn", program],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return {name: _body(text + "\n") for name, text in LOOP.findall(listing)}


def _arithmetic(body: list[Instruction]) -> list[Instruction]:
    return [(name, operands) for name, operands in body if name not in COUNTING]


x86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="these are x86-64's instructions")


def test_there_is_a_loop_for_each_precision(loops) -> None:
    assert {name.split("_")[1] for name in loops if name.startswith("scalar_")} == {
        "double", "single", "int16", "int8", "integer",
    }  # fmt: skip


def test_no_loop_loads_stores_or_spills(loops) -> None:
    for name, body in loops.items():
        assert body, name
        for instruction, operands in body:
            in_memory = [o for o in operands if "(" in o or "[" in o]
            assert not in_memory, (name, instruction, operands)


def test_no_loop_does_anything_else_than_its_arithmetic(loops) -> None:
    pattern = re.compile(r"v?p?(f?mul|f?madd|fml[as]|f?add|imul|fmadd213|dpbf16|bfdot)\w*")
    for name, body in loops.items():
        strange = {i for i, _ in _arithmetic(body) if not pattern.fullmatch(i)}
        assert not strange, name


@x86
@pytest.mark.parametrize(
    ("unit", "register", "precision"),
    [
        *[("avx512", "%zmm", precision) for precision in REALS],
        *[("avx2", "%ymm", precision) for precision in ("double", "single")],
    ],
)
def test_fused_loops_have_twelve_independent_chains(
    loops, unit: str, register: str, precision: str
) -> None:
    arithmetic = _arithmetic(loops[f"{unit}_{precision}"])
    assert {name for name, _ in arithmetic} == {REALS[precision]}
    assert all(o.startswith(register) for _, operands in arithmetic for o in operands)
    chains = Counter(operands[-1] for _, operands in arithmetic)
    constants = {o for _, operands in arithmetic for o in operands[:-1]}
    assert len(chains) == 12
    assert set(chains.values()) == {2}  # the two steps of a round
    assert not constants & set(chains)  # no chain waits for another


@x86
def test_other_vector_loops_have_twelve_chains_too(loops) -> None:
    names = [n for n in loops if not n.startswith("scalar") or n.endswith(("double", "single"))]
    assert len(names) == 18
    for name in names:
        arithmetic = _arithmetic(loops[name])
        assert len({operands[-1] for _, operands in arithmetic}) == 12, name
        is_alone = "int8" in name or arithmetic[0][0] in REALS.values()
        pairs = 1 if is_alone else 2
        assert len(arithmetic) == 24 * pairs, name


@pytest.mark.parametrize("rounds", [1, 1000, 300_000])
def test_what_the_loops_compute_is_right_and_stays_normal(probe, rounds: int) -> None:
    lines = [line.split() for line in probe("cpu_values_probe", str(rounds)).splitlines()]
    assert {"scalar_double", "scalar_integer"} <= {name for name, *_ in lines}
    for name, right, wrong_bit_seen, normal in lines:
        assert (right, wrong_bit_seen, normal) == ("1", "1", "1"), name
