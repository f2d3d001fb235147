"""Which processors the interfaces' interrupts go to (Documentation/core-api/irq/irq-affinity.rst).

irqbalance moves them about, so where it runs only that is a fact (`scheduling.py`).
"""

from __future__ import annotations

from railgauge.hosts.facts.routes import interfaces
from railgauge.hosts.facts.source import FactSource, Files, first

_DEFAULT = "/proc/irq/default_smp_affinity"
# A virtio card's interrupts are its PCI function's.
_SCRIPT = """
for interface in $interfaces; do
    device=$(readlink -f "/sys/class/net/$interface/device") || continue
    for folder in "$device/msi_irqs" "${device%/*}/msi_irqs"; do
        [ -d "$folder" ] || continue
        for irq in $(ls "$folder" | sort -n); do
            read -r cpus <"/proc/irq/$irq/smp_affinity_list" && echo "irq $interface:$cpus"
        done
        break
    done
done
"""


def parse(files: Files) -> dict[str, str]:
    """Return `irq_affinity` (the mask for new ones) and `nic.eth0.irq_cpus`, in IRQs' order."""
    facts = {}
    if mask := first(files, _DEFAULT):
        facts["irq_affinity"] = mask
    if "irqbalance" not in files:
        for interface in interfaces(files):
            if cpus := files.get(f"irq {interface}"):
                facts[f"nic.{interface}.irq_cpus"] = " ".join(cpus)
    return facts


SOURCE = FactSource((_DEFAULT,), parse, _SCRIPT)
