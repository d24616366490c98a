# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""fors forget: what is refused, and the request that is left for opensm."""
import zlib

import pytest

from conftest import needs_short, short_of_memory

ALIVE, DEAD, LISTED, REFERENCE, LEAF, STRANGER = (f"0x{guid:016x}" for guid in (1, 2, 3, 4, 5, 6))
ORDER = f"""fors-places 3
reference 0x0000000000000000
levels 2
spine {ALIVE} alive "Spine00"
spine {DEAD} dead "Spine01"
spine {LISTED} dead roots "Spine02"
spine {REFERENCE} dead reference "Spine03"
lanes 0.0 1.0 2.0 3.0
leaf {LEAF} dead "Leaf00"
slots 1.0 2.1
servers - -
cables 3.1 4.1 5.1 6.1
"""


def sealed(text):
    return f"{text}crc 0x{zlib.crc32(text.encode()):08x}\n"


@pytest.fixture
def folder(tmp_path):
    """make(name[, order]): a state folder with this kept order."""

    def make(name="0x01", order=ORDER):
        path = tmp_path / "fors" / name
        path.mkdir(parents=True)
        if order is not None:
            (path / "places").write_text(sealed(order))
        return path

    return make


def test_leaves_a_request(fors, folder):
    path = folder()
    out = fors("forget", DEAD, path).out
    assert "3 of 4 spine lanes" in out and "SIGHUP" in out
    assert (path / "forget").read_text() == f"{DEAD}\n"
    fors("forget", DEAD, path)
    assert (path / "forget").read_text() == f"{DEAD}\n"
    assert "0 of 1 leaves" in fors("forget", "5", path).out
    assert (path / "forget").read_text() == f"{DEAD}\n{LEAF}\n"
    assert sorted(entry.name for entry in path.iterdir()) == ["forget", "places"]


def test_adds_to_a_request_without_a_newline(fors, folder):
    path = folder()
    (path / "forget").write_text(LEAF)
    fors("forget", DEAD, path)
    assert (path / "forget").read_text() == f"{LEAF}\n{DEAD}\n"


def test_dry_run_leaves_nothing(fors, folder):
    path = folder()
    assert "3 of 4 spine lanes" in fors("forget", DEAD, path, "--dry-run").out
    assert not (path / "forget").exists()


@pytest.mark.parametrize("guid, text", [(ALIVE, "alive"), (LISTED, "root_guid_file"), (REFERENCE, "reference"),
                                        (STRANGER, "no switch with GUID")])
def test_refused(fors, folder, guid, text):
    path = folder()
    assert text in fors("forget", guid, path, code=1).err
    assert not (path / "forget").exists()


def test_all_folders(fors, folder, tmp_path):
    one, two = folder("0x01"), folder("0x02", order=ORDER.replace(f"{DEAD} dead", f"{DEAD} alive"))
    standby = folder("0x03", order=None)
    env = {"OSM_CACHE_DIR": str(tmp_path)}
    assert "alive" in fors("forget", DEAD, env=env, code=1).err
    fors("forget", LEAF, tmp_path / "fors")
    assert (one / "forget").read_text() == (two / "forget").read_text() == f"{LEAF}\n"
    assert not (standby / "forget").exists()


def test_bad_folders(fors, folder, tmp_path):
    assert "absent" in fors("forget", DEAD, tmp_path / "absent", code=2).err
    assert "cannot be opened" in fors("forget", DEAD, env={"OSM_CACHE_DIR": str(tmp_path)}, code=2).err
    assert "places" in fors("forget", DEAD, folder("0x04", order=None), code=2).err
    path = folder()
    (path / "places").write_text(ORDER)
    assert "cut off" in fors("forget", DEAD, path, code=2).err
    (path / "places").write_text(sealed(ORDER.replace("places 3", "places 9")))
    assert "version 9" in fors("forget", DEAD, path, code=2).err
    (path / "places").write_text(sealed(ORDER))
    (path / "forget").write_text("nonsense\n")
    assert "forget:1:" in fors("forget", DEAD, path, code=2).err


@pytest.mark.parametrize("name", ["places", "forget"])
def test_files_that_cannot_be_looked_at(fors, folder, tmp_path, name):
    """They are not absent: a folder that is passed over in silence is one that keeps the place."""
    path = folder()
    (path / name).unlink(missing_ok=True)
    (path / name).symlink_to(path / name)
    err = fors("forget", DEAD, tmp_path / "fors", code=2).err
    assert f"{name}: cannot be opened" in err


@needs_short
def test_no_failure_is_silent(folder):
    path, at, reached = folder(), 0, True
    while reached:
        at += 1
        (path / "forget").write_text(f"{LEAF}\n")
        code, _, err, reached = short_of_memory(at, "forget", DEAD, path)
        kept = (path / "forget").read_text()
        if code == 0:
            assert kept == f"{LEAF}\n{DEAD}\n", at
        else:
            assert code == 2 and err.startswith("fors forget: ") and kept == f"{LEAF}\n", (at, code, err)
    assert at > 10
