# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A short run of chaos.py on several kinds of trees, and the judge on fabrics that are wrong.

Long runs: make soak EVENTS=2000 (see CONTRIBUTING.md). Seeds of runs without a violation: SEEDS.
"""
import pytest

import chaos
import harness
import judge

# fabric: events, seed of the long runs (make soak)
SEEDS = {"FT(2;8,8)": (2000, 1), "FT(2;20,18)": (300, 1)}


@pytest.mark.parametrize("spec, lmc, managers, seed, events", [
    ("FT(2;8,8)", 3, "two", SEEDS["FT(2;8,8)"][1], 40),
    ("FT(2;4,4)", 0, "one", 2, 25),
    ("FT(2;3,4;servers=4;cables=2)", 3, "calm", 3, 15),
    ("FT(2;4,5;servers=7)", 1, "calm", 4, 15),
    ("FT(2;4,5;servers=3;guests=2;spares=1)", 2, "two", 5, 30),
    ("FT(2;4,5;servers=3;guests=4;stubs=2;strays=1)", 2, "two", 6, 30),
    ("FT(2;4,5;servers=3;guests=1;idle=1)", 0, "two", 7, 30),
    ("FT(2;4,5;servers=5;free=1;late=1;slow=1;cache=1)", 2, "two", 8, 30),
    ("FT(2;3,5;servers=8;free=1;late=1;guests=2;idle=1)", 0, "one", 9, 30),
])
def test_short_chaos(tmp_path, spec, lmc, managers, seed, events):
    tree = chaos.parse_fabric(spec)
    script = chaos.Script(tree, seed, events, chaos.MANAGER_CHOICES[managers])
    run, done, violation = chaos.chaos(tree, script, lmc, tmp_path, managers == "two")
    assert violation is None, f"event {done}: {violation}"
    assert done == events and run.tally["plans walked"] > 1


def one_of_each(tree):
    """A cable of either stage, a middle switch and a top die and return, one after the other."""
    kinds = {}
    for event in chaos.chaos_levels().series(tree, "singles", 0, 1):
        word = event.words[0][1:]
        low = chaos.place(word) if "/" in word else None
        what = word[0] if not low else "LM"["Leaf" not in low[0] + tree.cable[low][0]] + "/"
        kinds.setdefault((what, event.words[0][0]), event)
    assert len(kinds) == 8
    return list(kinds.values())


@pytest.mark.parametrize("spec", ["XGFT(3;3,3,3;1,3,2;shared=3)", "XGFT(3;4,3,3;1,2,2;guests=1;shuffle=3)",
                                  "XGFT(3;3,4,4;1,3,3;empty=3;uneven=1;shuffle=2)"])
def test_three_levels(tmp_path, spec):
    """A director switch, an oversubscribed tree, an uneven one: one failure of each kind, then to the very bytes."""
    tree = chaos.tree_of(spec)
    events = one_of_each(tree)
    run, done, violation = chaos.chaos(tree, events, 0, tmp_path)
    assert violation is None, f"event {done}, {events[done - 1].text}: {violation}"
    assert run.tally["the very bytes"] >= 4 and run.tally["plans walked"] >= 8


@pytest.mark.parametrize("spec", ["XGFT(3;4,4,4;1,4,4;shuffle=7)", "XGFT(3;3,3,3;1,3,2;shared=3)", "XGFT(3;4,3,4;1,3,2;shuffle=5)",
                                  "XGFT(3;3,4,4;1,3,3;empty=3;uneven=1;shuffle=2)"])
def test_sets_at_three_levels(tmp_path, spec):
    """A sample of what `make sets` does a hundred times: random sets of failures, each from the intact tree and back to the very bytes."""
    tree = chaos.tree_of(spec)
    events = list(chaos.chaos_levels().series(tree, "sets", 3, 15))
    run, done, violation = chaos.chaos(tree, events, 0, tmp_path, reference=False)
    assert violation is None, f"event {done}, {events[done - 1].text}: {violation}"
    assert run.tally["the very bytes"] >= len(events) / 2 >= 2 and run.tally["degraded"] + run.tally["cut"] == len(events) / 2
    assert run.tally["degraded"] >= 2


@pytest.mark.parametrize("spec, seed", [("XGFT(3;2,3,3;1,2,2;shared=2;drain=1)", 3), ("XGFT(3;2,3,3;1,2,1;empty=4;guests=1;shuffle=5)", 4)])
def test_short_chaos_at_three_levels(tmp_path, spec, seed):
    tree = chaos.tree_of(spec)
    run, done, violation = chaos.chaos(tree, chaos.kind_of(tree)[0](tree, seed, 12, ("restart",)), 0, tmp_path)
    assert violation is None, f"event {done}: {violation}"
    assert run.tally["plans walked"] > 1 and run.tally["reads"] > 20


@pytest.mark.parametrize("spec, more", [("FT(2;8,8)", set()), ("FT(2;8,8;spares=1)", {"replace"}),
                                        ("FT(2;8,8;stubs=2;strays=1)", {"stub", "stray"}),
                                        ("FT(2;8,8;free=1;late=1)", {"move"})])
def test_a_seed_replays(spec, more):
    """The same seed draws the same events, another seed others; written down and read again they are the same."""
    tree = chaos.parse_fabric(spec)
    texts = [event.text for event in chaos.Script(tree, 5, 300)]
    assert texts == [event.text for event in chaos.Script(tree, 5, 300)]
    assert texts != [event.text for event in chaos.Script(tree, 6, 300)]
    assert {text.split()[0] for text in texts} == {"change", "flap", "hup", "restart", "join", "leave"} | more
    short = chaos.condensed(tree, [chaos.Event(text) for text in texts], 10)
    worlds = [judge.World(tree, off=tree.late), judge.World(tree, off=tree.late)]
    for event in texts:
        chaos.Event(event).apply(worlds[0])
    for event in short:
        event.apply(worlds[1])
    assert worlds[0].links() == worlds[1].links() and worlds[0].off == worlds[1].off
    assert more or len(short) == 11


# ---------------------------------------------------------------------------
# The judge finds what is wrong

@pytest.fixture(scope="module")
def healthy(tmp_path_factory):
    """FT(2;4,4) with one cable dead, at rest: (World, Snapshot, status, schedule as CSV)."""
    tree, folder = chaos.parse_fabric("FT(2;4,4)"), tmp_path_factory.mktemp("judge")
    run = chaos.Run(tree, folder, 2)
    try:
        run.do(chaos.Event("change -1/2"))
        csv = chaos.read_schedule(run.crew.master).stdout
        return run.world, run.sim.command("Dump"), run.crew.master.status(), csv
    finally:
        run.stop()


def view_of(healthy, spoil=None):
    snapshot = harness.Snapshot(healthy[1])
    if spoil:
        spoil(snapshot)
    return judge.View(healthy[0], snapshot, "Node00-00")


def entry(switch, server, index, port):
    """A function that puts a wrong port into a table."""
    def spoil(snapshot):
        snapshot.table[switch][snapshot.port[server].lid + index] = port
    return spoil


def test_nothing_is_wrong(healthy):
    view = view_of(healthy)
    assert judge.judge_reach(view, ["Node00-00"]) + judge.judge_homes(view) + judge.judge_hops(view) == []
    assert judge.judge_status(view, healthy[2]) + judge.judge_length(view, healthy[2]) == []
    assert judge.judge_plan(view, healthy[3], healthy[2]["phases"]) == [] and judge.unlevel(view) == 0


@pytest.mark.parametrize("spoil, fault", [
    (entry("Spine00", "Node01-00", 0, harness.NO_PATH), "ends at nothing"),
    (entry("Spine00", "Node01-00", 0, 3), "a loop"),
    (entry("Leaf02", "Node01-00", 1, 1), "Node02-00"),
])
def test_wrong_ways_are_found(healthy, spoil, fault):
    assert any(fault in text for text in judge.judge_reach(view_of(healthy, spoil)))


def test_a_table_that_ends_early_is_found(healthy):
    """A switch that has come back with room for few LIDs only, before it is told of all."""
    def cut_off(snapshot):
        del snapshot.table["Spine01"][snapshot.port["Node01-00"].lid:]
    assert any("Node01-00 ends at nothing from Spine01" in text for text in judge.judge_reach(view_of(healthy, cut_off), ["Node01-00"]))


def test_a_credit_loop_is_found(healthy):
    """Three spines that send LIDs of three leaves to the next leaf, which sends them up to the next spine."""
    def spoil(snapshot):
        for i in range(3):
            lid = snapshot.port[f"Node0{(i + 2) % 3}-00"].lid
            snapshot.table[f"Spine0{i}"][lid] = i + 1                      # down to leaf i
            snapshot.table[f"Leaf0{i}"][lid] = 5 + (i + 1) % 3             # up to spine i + 1
            snapshot.table[f"Spine0{(i + 1) % 3}"][lid] = (i + 2) % 3 + 1  # down to where it belongs
    assert judge.judge_loops(view_of(healthy)) == []
    assert "in a circle" in judge.judge_loops(view_of(healthy, spoil))[0]


def test_an_entry_that_left_home_is_found(healthy):
    view = view_of(healthy, entry("Leaf02", "Node00-00", 0, 6))
    assert judge.judge_reach(view) == []
    assert judge.judge_homes(view) == ["Leaf02 has LID {} of Node00-00 not at home, lane 0".format(
        view.snapshot.port["Node00-00"].lid)]


def test_a_home_that_is_none_is_found(healthy):
    """Homes that nobody can foretell: one for all entries of a server, and the same until all are ranked afresh."""
    homes, alike = judge.Homes(), judge.Homes()
    view = view_of(healthy)
    assert homes.judge(view) == []
    homes.keep()
    assert alike.judge(view_of(healthy, entry("Leaf02", "Node00-00", 0, 6)))

    def move_all(snapshot):  # the four LIDs of one server, one lane on, at all leaves and spines
        lid = snapshot.port["Node00-01"].lid
        for leaf in (1, 2, 3):
            row = snapshot.table[f"Leaf{leaf:02d}"]
            row[lid:lid + 4] = bytes(5 + (port - 4) % 4 for port in row[lid:lid + 4])
    moved = view_of(healthy, move_all)
    assert any("have no home" in fault for fault in homes.judge(moved))
    homes.forget()
    assert not any("Node00-00" in fault for fault in homes.judge(view))


def test_wrong_loads_are_found(healthy):
    """All base LIDs of leaf 3 over spine 0: 3 more units than the one that is at home there."""
    def spoil(snapshot):
        for slot in range(4):
            entry("Leaf02", f"Node03-{slot:02d}", 0, 5)(snapshot)
    assert judge.unlevel(view_of(healthy, spoil)) >= 2


@pytest.mark.parametrize("spoil", [
    lambda rows: rows[:-1],
    lambda rows: rows + rows[-1:],
    lambda rows: ["0" + rows[0][rows[0].index(","):], *rows[1:]] if rows[0][0] != "0" else
                 ["1" + rows[0][1:], *rows[1:]],
])
def test_wrong_plans_are_found(healthy, spoil):
    head, *rows = healthy[3].splitlines()
    assert judge.judge_plan(view_of(healthy), "\n".join([head, *spoil(rows)]), healthy[2]["phases"])


def test_who_is_cut_off_from_a_guest_is_found(tmp_path):
    """A host below a spine has to be reached from each leaf, and to reach each LID."""
    tree = chaos.parse_fabric("FT(2;3,3;guests=1)")
    run = chaos.Run(tree, tmp_path, 1)
    try:
        run.do(chaos.Event("change -1/0"))
        for spoil in (entry("Leaf02", "Guest00", 1, harness.NO_PATH), entry("Spine00", "Node01-00", 0, harness.NO_PATH)):
            snapshot = run.sim.snapshot()
            assert judge.judge_reach(judge.View(run.world, snapshot, "Node00-00")) == []
            spoil(snapshot)
            assert judge.judge_reach(judge.View(run.world, snapshot, "Node00-00"))
    finally:
        run.stop()


def test_bounds():
    """LB and LP of fabrics that are known: the two of the design where they differ."""
    tree = chaos.parse_fabric("FT(2;5,4)")
    live = [{0, 1, 2}, {0, 1, 3}, {0, 3, 4}, {1, 2, 4}]
    view = judge.View.__new__(judge.View)
    view.world = judge.World(tree, [(a, k) for a in range(4) for k in range(5) if k not in live[a]])
    view.tree, view.lanes, view.servers = tree, live, list(tree.hcas)
    view.players = view.servers
    view.count = dict.fromkeys(range(4), 5)
    assert (judge.lower_bound(view), judge.fractional_bound(view)) == (25, 38)
