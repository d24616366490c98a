# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""When a schedule is published before its sweep has ended, and when not; judged at that very moment (held.py)."""
import pytest

import failover
import harness
import held

IDLE = "Node03-03"  # takes no part
SLOW_MS = 15        # each block of tables, and each port that is set: a sweep has some length


class Bench:
    """FT(2;4,4), 15 servers, one opensm behind a gate, and a host that takes no part."""

    def __init__(self, folder, jobs=None, **options):
        self.tree = harness.FatTree(4, 4)
        self.sim = harness.Ibsim(self.tree, folder / "sim")
        self.gate = held.Gate(self.sim, folder / "gate")
        guids = folder / "participants"
        guids.write_text("".join(f"0x{port.guid:x}\n" for name, port in self.sim.snapshot().port.items()
                                 if name in self.tree.hcas and name != IDLE))
        conf = f"participants_file = {guids}\n"
        if jobs:
            (folder / "jobs").write_text(jobs)
            conf, options = f"jobs_file = {folder / 'jobs'}\n", {"cn_guid_file": guids, **options}
        self.osm = harness.OpenSM(self.sim, folder / "opensm", fors_conf=conf,
                                  **{"lmc": 3, **self.gate.options(SLOW_MS), **options})
        self.gate.watch(self.osm)
        self.epoch = self.position = 0
        self.settle()

    def settle(self):
        """Wait until all is done; how many schedules were published early, and how many late, none of them wrong."""
        self.osm.wait_status(state="active", epoch=lambda epoch: epoch and epoch > self.epoch)
        failover.settle(self.osm)
        early, self.epoch = self.osm.log(self.position).count(held.EARLY), self.osm.status()["epoch"]
        late, self.position = self.gate.tally.pop("published", 0) - early, self.osm.log_end()
        assert self.gate.faults == []
        return early, late

    def turn(self, *cables, out=()):
        """Pull cables; out: those that are back at once. Also the idle host's, so that OpenSM has ports to set in the end."""
        idle = self.tree.cable[IDLE, 1]
        ends = [(cable.leaf, cable.leaf_port) for cable in cables]
        back = [idle, *((cable.leaf, cable.leaf_port) for cable in out)]
        self.sim.commands([f'Unlink "{node}"[{port}]' for node, port in back + ends]
                          + [f'Relink "{node}"[{port}]' for node, port in back])

    def cut(self, *cables, out=()):
        self.turn(*cables, out=out)
        return self.settle()

    def stop(self):
        self.osm.stop()
        self.gate.stop()
        self.sim.stop()


@pytest.fixture
def bench(tmp_path, request):
    made = Bench(tmp_path, **getattr(request, "param", {}))
    yield made
    made.stop()


def test_losses_are_early_and_nothing_else(bench):
    cable = bench.tree.uplink(0, 1)
    assert bench.cut(cable) == (1, 0)
    assert bench.cut(bench.tree.uplink(2, 3), bench.tree.uplink(3, 3)) == (1, 0)
    bench.sim.relink(cable.leaf, cable.leaf_port)
    assert bench.settle() == (0, 1)
    assert bench.cut(*(bench.tree.uplink(a, 0) for a in range(4))) == (1, 0)


def test_a_failover_is_told_step_by_step(bench):
    """In the order in which they have to come, with the epoch before the end of the sweep; a return is none."""
    assert bench.osm.status()["failover"] is None
    cable = bench.tree.uplink(0, 1)
    assert bench.cut(cable) == (1, 0)
    harness.wait_for(lambda: bench.osm.status()["failover"]["up_ms"] is not None)
    told = bench.osm.status()["failover"]
    steps = ["discovered", "asked", "filled", "first_block", "last_block", "confirmed", "published", "up"]
    times = [told[f"{step}_ms"] for step in steps]
    assert told["epoch"] == bench.epoch and times == sorted(times) and min(told["trap_ms"], told["sweep_ms"]) == 0
    assert told["filled_ms"] <= told["planned_ms"] <= told["published_ms"] and told["copied_ms"] is None
    history = (bench.osm.state_dir / "history").read_text()
    assert f"readers had the schedule after {told['published_ms']:.0f} ms" in history
    bench.sim.relink(cable.leaf, cable.leaf_port)
    assert bench.settle() == (0, 1)
    assert bench.osm.status()["failover"] == told


JOBS = """wide [exclusive]: Node00-00, Node00-01, Node00-02, Node00-03, Node01-00, Node01-01, Node01-02, Node01-03
small: Node02-00, Node03-00
"""  # the schedule of the small one is so short that it passes the gate


@pytest.mark.parametrize("bench", [{"jobs": JOBS}], indirect=True)
def test_jobs_are_early(bench):
    """The schedules of jobs come when their tables are in, as the fabric's own does: after losses, and after nothing else."""
    cable = bench.tree.uplink(0, 1)
    assert bench.cut(cable) == (1, 0)
    assert bench.cut(bench.tree.uplink(1, 3)) == (1, 0)
    bench.sim.relink(cable.leaf, cable.leaf_port)
    assert bench.settle() == (0, 1)
    assert bench.cut(bench.tree.uplink(0, 0), out=[bench.tree.uplink(1, 2)]) == (0, 1)


@pytest.mark.parametrize("bench", [{"lmc": 0}], indirect=True)
def test_losses_with_one_lid(bench):
    assert bench.cut(bench.tree.uplink(1, 1)) == (1, 0)
    assert bench.cut(bench.tree.uplink(1, 2)) == (1, 0)


def test_a_port_that_bounced_waits(bench):
    """One cable is lost, another was out for a moment: its ports are up, and pass no packet before the sweep has ended."""
    assert bench.cut(bench.tree.uplink(0, 1), out=[bench.tree.uplink(1, 2)]) == (0, 1)


@pytest.mark.parametrize("bench", [{"use_ucast_cache": "TRUE"}], indirect=True)
def test_without_a_callback_the_end_is_waited_for(bench):
    """OpenSM's unicast cache makes the tables of the second sweep itself."""
    bench.sim.unlink_node("Node01-02")
    assert bench.settle() == (0, 1)


def test_a_declined_fabric_is_withdrawn(bench):
    """Two leaves without a spine in common: another engine routes, nothing is early."""
    bench.turn(*(bench.tree.uplink(a, k) for a, k in ((0, 0), (0, 1), (1, 2), (1, 3))))
    bench.osm.wait_status(state="inactive")
    failover.settle(bench.osm)
    assert held.EARLY not in bench.osm.log() and bench.gate.faults == []


def test_a_block_that_is_lost_waits(bench):
    """A spine takes no more tables: nothing is published before it does."""
    bench.sim.command('Error "Spine02" 100 25')  # of every 100 packets for its forwarding tables, drop 100
    position = bench.osm.log_end()
    bench.turn(bench.tree.uplink(0, 1))
    bench.osm.wait_log("ERRORS DURING INITIALIZATION", position, 60)
    assert held.EARLY not in bench.osm.log() and bench.osm.status()["state"] == "planning"
    bench.sim.command('Error "Spine02" 0')
    assert bench.settle() == (0, 1)


def test_errors_that_come_late_withdraw(bench):
    """
    The idle host does not let its port be set, once the tables are in. What was early is withdrawn when the sweep ends, and
    the next one is not early.
    """
    bench.gate.then = lambda: bench.sim.command(f'Error "{IDLE}" 100 21')
    position = bench.osm.log_end()
    bench.turn(bench.tree.uplink(0, 1))
    bench.osm.wait_log("ERRORS DURING INITIALIZATION", position, 60)
    assert held.EARLY in bench.osm.log(position)
    status = bench.osm.wait_status(state="planning")
    assert not status["phases"] and "errors" in status["reason"]
    bench.gate.then = lambda: None
    position = bench.osm.log_end()
    bench.osm.wait_epoch(status["epoch"])  # the next sweep finds no such host
    assert held.EARLY not in bench.osm.log(position) and bench.gate.faults == []
