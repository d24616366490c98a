# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Files that fors reads inside opensm: whose they are, how large, and what happens when they do not answer."""
import harness
import oracle
from harness import FatTree
from test_order import cut, guid_of, look
from test_plugin import errors


def routes_are_good(sim, sm):
    tables, live = look(sim, sm)
    return oracle.unreached(tables, live) == []


def test_state_folder_that_others_may_write(fabric, tmp_path):
    """It is not used, a request in it is not obeyed, routes go on; when it is mended, it is used."""
    place = tmp_path / "state"
    tree = FatTree(3, 3)
    sim, sm = fabric(tree, lmc=2, sweep_interval=1, fors_conf=f"state_dir = {place}\n")
    sm.wait_log("fors: active")
    folder = next(place.glob("0x*"))
    dead = guid_of(look(sim, sm)[1], "Spine02")
    sim.unlink_node("Spine02")
    sm.wait_log("fors: active.*m = 1")
    place.chmod(0o777)
    sm.wait_log(rf"ERR F018: .*others may write {place} .*chmod go-w")
    (folder / "forget").write_text(f"0x{dead:016x}\n")
    mark = sm.log_end()
    cut(sim, tree.uplink(0, 0))
    sm.wait_log("fors: active.*f = 2", mark)
    assert routes_are_good(sim, sm)
    assert (folder / "forget").exists()
    place.chmod(0o755)
    (folder / "forget").unlink()
    sm.wait_log("the state folder can be written again")
    harness.wait_for(lambda: '"f": 2' in (folder / "status.json").read_text())
    assert errors(sm) == ["F018"]
    assert sm.stop() == 0
