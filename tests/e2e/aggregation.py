# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Aggregation nodes for any fabric: one adapter more at each switch, which is no host, at a port that the switch gets."""
import re

DESCRIPTION = "Mellanox Technologies Aggregation Node"
FIRST_LID = 40000


def _switch(record):
    return re.search(r'^Switch\s+(\d+)\s+"([^"]+)"(?:.*?#\s*"([^"]*)")?(?:.*? lid (\d+))?.*$', record, re.M)


def with_aggregation(text, description=DESCRIPTION, device=0xcf09):
    """The net file with them, behind all other records; with LIDs where the switches have some. device 0: it is not told."""
    records, nodes = [], []
    for record in re.split(r"\n[ \t]*\n", text.strip()):
        switch = _switch(record)
        if switch:
            ports, name, what, lid = int(switch[1]) + 1, switch[2], switch[3] or switch[2], int(switch[4] or 0)
            guid, own = 0xa66000000000 + len(nodes), FIRST_LID + len(nodes) if lid else 0
            grown = re.sub(r"^(Switch\s+)\d+", rf"\g<1>{ports}", switch[0])
            record = record.replace(switch[0], grown, 1) + f'\n[{ports}]\t"H-{guid:016x}"[1]({guid:x})\t\t# "{description}" lid {own} 4xHDR'
            nodes.append((f"devid=0x{device:x}\n" if device else "") + f'caguid=0x{guid:x}\nCa\t1 "H-{guid:016x}"\t\t# "{description}"\n'
                         f'[1]({guid:x})\t"{name}"[{ports}]\t\t# lid {own} lmc 0 "{what}" lid {lid} 4xHDR')
        records.append(record)
    return "\n\n".join(records + nodes) + "\n"


class Aggregated:
    """A topology with them, for ibsim."""

    def __init__(self, tree, description=DESCRIPTION, device=0xcf09):
        self.tree, self.kind = tree, (description, device)
        self.switches = {name: ports + 1 for name, ports in tree.switches.items()}
        self.hcas = {**tree.hcas, **{f"H-{0xa66000000000 + i:016x}": 1 for i in range(len(tree.switches))}}

    def text(self):
        return with_aggregation(self.tree.text(), *self.kind)

    def __getattr__(self, name):
        return getattr(self.tree, name)


def with_switches(text, switches):
    """The net file with switches {name: [names of those that it is cabled to]} that have no hosts, at ports that all get."""
    records = re.split(r"\n[ \t]*\n", text.strip())
    at = {_switch(record)[2]: i for i, record in enumerate(records) if _switch(record)}

    def take(name):
        record = records[at[name]]
        port = int(_switch(record)[1]) + 1
        records[at[name]] = re.sub(r"^(Switch\s+)\d+", rf"\g<1>{port}", record, count=1, flags=re.M)
        return port

    for number, name in enumerate(switches):
        at[name] = len(records)
        records.append(f'switchguid=0x{0x900001 + number:x}\nSwitch\t0 "{name}"\t\t# "{name}" base port 0 lid 0 lmc 0')
    for name, peers in switches.items():
        for peer in peers:
            ends = take(name), take(peer)
            records[at[name]] += f'\n[{ends[0]}]\t"{peer}"[{ends[1]}]\t\t# "{peer}" lid 0 4xSDR'
            records[at[peer]] += f'\n[{ends[1]}]\t"{name}"[{ends[0]}]\t\t# "{name}" lid 0 4xSDR'
    return "\n\n".join(records) + "\n"


def without_hosts(text, switches):
    """The net file without the hosts of these switches."""
    records, gone = [], set()
    for record in re.split(r"\n[ \t]*\n", text.strip()):
        adapter = re.search(r'^Ca\s+\d+\s+"([^"]+)"[^\n]*\n\[\d+\][^"]*"([^"]+)"', record, re.M)
        if adapter and adapter[2] in switches:
            gone.add(adapter[1])
        else:
            records.append(record)
    lines = "\n\n".join(records).split("\n")
    return "\n".join(line for line in lines if not (line[:1] == "[" and line.split('"')[1] in gone)) + "\n"
