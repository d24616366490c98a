# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Node descriptions are what hosts say of themselves: none of them takes a job's schedule, a server's place in a job, or a drained
cable away, under the stock opensm. umad_names.c changes what the simulated nodes answer."""
import csv
import functools
import json

import pytest

from harness import SHORT_POLLS, FatTree, OpenSM, compiled, fors, wait_for
from three import Tree3

TREE = FatTree(4, 4)  # four servers on each of four leaves


class Scene:
    """A fabric, its opensm, its jobs file, and what the nodes call themselves."""

    def __init__(self, fabric, tmp_path, text, conf="", topology=TREE, names=None, **options):
        self.fabric, self.tmp_path, self.conf = fabric, tmp_path, conf
        self.file, self.names_file = tmp_path / "jobs", tmp_path / "names"
        self.rename(names or {})
        if text is not None:
            self.write(text)
        self.options = {"console": "local", "sweep_interval": "0", "node": "Node03-02", **options}
        self.sim, self.sm = fabric(topology, **self.how())

    def how(self):
        return dict(fors_conf=f"jobs_file = {self.file}\n{self.conf}", preload=[compiled("umad_names")],
                    env={"FORS_UMAD_NAMES": str(self.names_file)}, **self.options)

    def write(self, text):
        self.file.with_suffix(".new").write_text(text)
        self.file.with_suffix(".new").rename(self.file)

    def rename(self, names):
        """{what ibsim calls it: its description}; the others have what ibsim calls them."""
        self.names_file.write_text("".join(f"{was}\t{now}\n" for was, now in names.items()))

    def learn(self):
        """opensm asks all nodes for their descriptions, and sweeps."""
        self.sm.sweep()  # whoever has lost a cable is asked by another way then
        self.sm.console("update_desc")
        self.sm.sweep()
        self.sm.sweep()

    def guid(self, node):
        return self.sim.snapshot().port[node].guid

    def restart(self):
        self.sm.stop()
        mark = self.sm.log_end()
        self.sm = OpenSM(self.sim, self.sm.directory, **self.how())
        self.fabric.also(self.sm)
        self.sm.wait_up(mark)
        self.sm.sweep()

    def job(self, name):
        return next((job for job in self.sm.status().get("jobs") or () if job["name"] == name), {})

    def wait(self, *names, **wanted):
        """The jobs, as soon as these are active, and each has what is wanted of it."""
        def good():
            self.sm.check_alive()
            jobs = [self.job(name) for name in names]
            return jobs if all(job.get("state") == "active" and all(value(job.get(key)) if callable(value) else job.get(key) == value
                                                                    for key, value in wanted.items()) for job in jobs) else None
        try:
            return wait_for(good, 25, f"{names} {wanted}")
        except Exception as error:
            raise AssertionError(f"{error}\n{json.dumps(self.sm.status().get('jobs'), indent=1)}\n"
                                 f"{self.sm.status().get('remarks')}\n{self.sm.recent_log()}") from None

    def servers(self, name):
        """Who is in the schedule of a job, by what ibsim calls them."""
        done = fors("schedule", self.sm.state_dir / "jobs" / name / "schedule", "--format", "json", code=None)
        by_guid = {port.guid: node for node, port in self.sim.snapshot().port.items()}
        return sorted(by_guid.get(int(server["guid"], 16), server["guid"]) for server in json.loads(done.stdout)["servers"])

    def remarks(self):
        return " | ".join(self.sm.status()["remarks"])

    def wait_remark(self, text):
        return self.sm.wait_status(remarks=lambda found: any(text in one for one in found or ()))


@pytest.fixture
def scene(fabric, tmp_path):
    return functools.partial(Scene, fabric, tmp_path)


def cut(scene):
    """A cable dies: all jobs are planned anew."""
    scene.sim.unlink("Leaf03", 5)
    scene.learn()


def pieces_of(sm, name):
    path = sm.state_dir / "jobs" / name / "demand" / name / "schedule"
    text = fors("schedule", path, "--format", "csv", code=None).stdout
    return sorted((row["src_guid"], row["dst_guid"], row["bytes"]) for row in csv.DictReader(text.splitlines()))


def test_hosts_of_a_demand_are_those_of_the_job(scene, tmp_path):
    """Planned anew while hosts are called otherwise, names are exchanged, or a stranger has one: the messages are those of before."""
    (tmp_path / "demands").mkdir()
    (tmp_path / "demands" / "rows.demand").write_text("Node00-00 Node01-00 1000\nNode00-01 Node01-01 3000\n")
    s = scene("a [demand=rows]: Node00-00, Node00-01, Node01-00, Node01-01\n", f"demand_dir = {tmp_path / 'demands'}\n")
    (told,) = s.wait("a", demand_epoch=lambda epoch: epoch)
    wanted = pieces_of(s.sm, "a")
    assert [piece[2] for piece in wanted] == ["1000", "3000"]
    for number, names in enumerate(({"Node00-00": "ghost"}, {"Node00-00": "Node00-01", "Node00-01": "Node00-00"},
                                    {"Node00-00": "ghost", "Node02-00": "Node00-00"})):
        s.rename(names)
        s.learn()
        (s.sim.relink if number % 2 else s.sim.unlink)(*TREE.uplink(2, 1)[:2])
        s.sm.sighup()
        (told,) = s.wait("a", demand_epoch=lambda epoch: (epoch or 0) > told["demand_epoch"])
        assert pieces_of(s.sm, "a") == wanted


def test_a_description_ends_no_job(scene):
    """Job b has a server by GUID, job c a name that nobody has; the server takes the name. Both jobs stay, and all others."""
    text = "a: Node00-00, Node01-00\nb: {guid}, Node01-01\nc: ghost, Node02-00, Node03-00\n"
    s = scene(None)
    s.sm.wait_up()
    s.write(text.format(guid=hex(s.guid("Node00-01"))))
    s.wait("a", "b", "c")
    s.rename({"Node00-01": "ghost"})
    cut(s)
    s.wait("a", "b", "c")
    assert s.servers("b") == ["Node00-01", "Node01-01"] and s.servers("c") == ["Node02-00", "Node03-00"]
    s.wait("c", reason=lambda text: 'works for job "b"' in text)
    s.restart()  # the very same text, read by one that knows nothing of before
    s.wait("a", "b", "c")
    assert s.servers("b") == ["Node00-01", "Node01-01"]
    s.sm.stop()
    for path in s.sm.state_dir.glob("names*"):
        path.unlink()
    s.restart()
    s.wait("a", "b", "c")
    assert s.servers("b") == ["Node00-01", "Node01-01"]


def test_the_name_of_a_living_host(scene):
    """A host takes the name of another: it gets nothing, and the other loses nothing, also over a restart and after a failure."""
    s = scene("a: Node00-00, Node01-00\nb: Node02-00, Node03-00\n")
    s.wait("a", "b")
    epochs = [s.job(name)["epoch"] for name in "ab"]
    s.rename({"Node00-01": "Node00-00", "Node02-00": "Node03-00"})
    s.learn()
    s.wait_remark("two nodes have this description")
    assert [s.job(name)["epoch"] for name in "ab"] == epochs, "nobody's schedule is touched"
    cut(s)
    for again in (False, True):
        if again:
            s.restart()
        s.wait("a", "b", servers=2, missing=0)
        assert s.servers("a") == ["Node00-00", "Node01-00"] and s.servers("b") == ["Node02-00", "Node03-00"]
    s.rename({})
    s.learn()
    s.sm.wait_status(remarks=lambda found: not any("description" in one for one in found))


def test_the_name_of_a_dead_host(scene):
    """Nobody replaces a host that is down, but for the host that stands where it stood, or when the administrator says so."""
    s = scene("a: Node00-00, Node01-00, Node02-00\n")
    s.wait("a", servers=3)
    s.sim.unlink("Node00-00", 1)
    s.rename({"Node03-03": "Node00-00"})
    s.learn()
    s.wait("a", servers=2, missing=1)
    assert s.servers("a") == ["Node01-00", "Node02-00"]
    s.wait("a", reason=lambda text: "two nodes have this description" in text and "which had it first and is not there" in text)
    s.restart()
    s.wait("a", servers=2, missing=1)
    assert s.servers("a") == ["Node01-00", "Node02-00"]
    s.sim.relink("Node00-00", 1)  # it comes back: all as before
    s.learn()
    s.wait("a", servers=3, missing=0)
    assert s.servers("a") == ["Node00-00", "Node01-00", "Node02-00"]
    s.sim.unlink("Node00-00", 1)
    s.learn()
    s.wait("a", servers=2, missing=1)
    guid = hex(s.guid("Node00-00"))
    wanted = fors("forget", guid, s.sm.state_dir)
    assert '"Node00-00"' in wanted.stdout, wanted
    s.learn()
    s.wait("a", servers=3, missing=0)
    assert s.servers("a") == ["Node01-00", "Node02-00", "Node03-03"]


def test_a_new_adapter_in_its_place(scene):
    """A host is repaired: same cable, same name, another GUID. Nobody has to say anything."""
    tree = FatTree(4, 4)
    tree.hcas["Spare"] = 1
    s = scene("a: Node00-00, Node01-00\n", topology=tree, names={"Spare": "Node00-00"})
    s.wait("a", servers=2)
    s.sim.command('Clear "Node00-00"[1]')
    s.learn()
    s.wait("a", servers=1)
    s.sim.link("Leaf00", 1, "Spare", 1)
    s.learn()
    s.wait("a", servers=2, missing=0)
    assert s.servers("a") == ["Node01-00", "Spare"]
    assert "names of hosts go with their switch ports" in s.sm.log()


def test_names_exchanged(scene):
    """Two hosts exchange their names: jobs that run stay where they are; one that begins gets neither, and is told."""
    s = scene("a: Node00-00, Node01-00\nb: Node00-01, Node01-01\n")
    s.wait("a", "b")
    s.rename({"Node00-00": "Node00-01", "Node00-01": "Node00-00"})
    cut(s)
    s.restart()
    s.wait("a", "b", servers=2, missing=0)
    assert s.servers("a") == ["Node00-00", "Node01-00"] and s.servers("b") == ["Node00-01", "Node01-01"]
    s.write("new: Node00-00, Node01-00\nb: Node00-01, Node01-01\n")
    s.wait("new", servers=1, missing=1)
    s.wait("new", reason=lambda text: "nobody is meant" in text)
    assert s.servers("b") == ["Node00-01", "Node01-01"]
    for node in ("Node00-00", "Node00-01"):
        fors("forget", hex(s.guid(node)), s.sm.state_dir)
    s.learn()
    s.wait("new", servers=2, missing=0)
    assert s.servers("new") == ["Node00-01", "Node01-00"]


def test_a_host_without_its_name(scene):
    """A host that has booted has no description for a while, or a default one, and another has its name meanwhile."""
    s = scene("a: Node00-00, Node01-00\n")
    s.wait("a", servers=2)
    for name in ("", "localhost HCA-1"):
        s.sim.unlink("Node00-00", 1)
        s.learn()
        s.wait("a", servers=1)
        s.rename({"Node00-00": name, "Node00-01": "Node00-00"})
        s.sim.relink("Node00-00", 1)
        s.learn()
        s.wait("a", servers=2, missing=0)
        assert s.servers("a") == ["Node00-00", "Node01-00"]
        s.rename({})
        s.learn()


def test_three_levels(scene):
    """The same above three levels, where a plan is made over tables as they are, and for switches that fors.conf names."""
    tree = Tree3((2, 2, 2), (2, 2))
    s = scene("a: Node0-0-0, Node1-1-0\nb: Node0-0-1, Node0-1-1\n", conf="exclude_spines = Top0-0\nexclude_links = Mid0-1[3]\n",
              topology=tree, node="Node1-0-0", lmc="0")
    s.wait("a", "b", servers=2)
    was = s.sm.status()["excluded_links"]
    assert was
    s.rename({"Node0-0-1": "Node0-0-0", "Top1-1": "Top0-0", "Mid1-1": "Mid0-1"})
    s.learn()
    s.wait_remark("two nodes have this description")
    s.wait_remark("two nodes have the description")
    s.sim.unlink("Node1-1-0", 1)
    s.learn()
    s.wait("a", servers=1, missing=1)
    assert s.servers("a") == ["Node0-0-0"] and s.servers("b") == ["Node0-0-1", "Node0-1-1"]
    assert s.sm.status()["excluded_links"] == was


@pytest.mark.parametrize("knows", [False, True])
def test_takeover(scene, tmp_path, knows):
    """
    A standby takes over while two have a name. It never saw whose it was: nobody is meant, and that job alone is short of a server;
    or its reference fabric says it.
    """
    conf = ""
    if knows:
        (tmp_path / "intact.txt").write_text(TREE.text())
        conf = f"reference_fabric = {tmp_path}/intact.txt\n"
    s = scene("a: Node00-00, Node01-00\nb: Node02-00, Node03-00\n", conf=conf)
    s.wait("a", "b")
    s.rename({"Node03-03": "Node00-00"})
    s.learn()
    s.sm.stop()
    s.sm = OpenSM(s.sim, tmp_path / "other", **SHORT_POLLS, **{**s.how(), "node": "Node02-02"})
    s.fabric.also(s.sm)
    s.wait("a", servers=2 if knows else 1, missing=0 if knows else 1)
    s.wait("b", servers=2, missing=0)
    assert s.servers("b") == ["Node02-00", "Node03-00"]
    assert s.servers("a") == (["Node00-00", "Node01-00"] if knows else ["Node01-00"])
    s.wait_remark("two nodes have this description")


@pytest.mark.parametrize("thief", ["Leaf01", "Node03-03", "Spine02"])
def test_excluded_by_name(fabric, tmp_path, thief):
    """A switch or a host takes the name of a switch that fors.conf names: the same cables are drained, also while that is dead."""
    names = tmp_path / "names"
    names.write_text("")
    sim, sm = fabric(TREE, fors_conf="exclude_links = Leaf00[5]\nexclude_spines = Spine03\n", preload=[compiled("umad_names")], console="local",
                     sweep_interval="0", env={"FORS_UMAD_NAMES": str(names)})
    was = sm.wait_status(state="active")["excluded_links"]
    assert len(was) == 1 + 4
    for name in ("Leaf00", "Spine03"):
        names.write_text(f"{thief}\t{name}\n")
        sm.console("update_desc")
        sm.sweep()
        sm.sweep()
        status = sm.wait_status(remarks=lambda found: any("two nodes have the description" in one for one in found))
        assert status["excluded_links"] == was
