# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""packaging/schemas: what `fors plan --json` and `fors status --json` print is as they say; what is otherwise they refuse."""
import copy
import json

import pytest

from conftest import SRC

jsonschema = pytest.importorskip("jsonschema", reason="python3-jsonschema is not installed")

SCHEMA = {name: json.loads((SRC / "packaging" / "schemas" / f"{name}.schema.json").read_text()) for name in ("status", "plan")}
JUDGE = {name: jsonschema.Draft202012Validator(schema) for name, schema in SCHEMA.items()}
OWN = {"switches", "length_bound", "fullest_link", "fullest_flows", "longest_way", "flows", "verify_ms", "certificates"}  # not in status.json

PLANS = [
    ["--synthetic", "FT(2;4,4)"], ["--synthetic", "FT(2;4,4)", "--lmc", "2"],
    ["--synthetic", "FT(2;4,4)", "--down", "Leaf00[5]", "--down", "Spine01", "--down", "Node02-00"],
    ["--synthetic", "FT(2;3,4;servers=6;cables=2;empty=0/1)", "--down", "Leaf00"],
    ["--synthetic", "XGFT(3;2,2,2;1,2,2)"], ["--synthetic", "XGFT(3;4,4,4;1,4,4)", "--down", "Mid2-01", "--down", "Leaf00[5]"],
]
FAILED = [["--synthetic", "FT(2;2,2)", "--down", "Leaf00[3]", "--down", "Leaf01[4]"], ["--synthetic", "FT(2;4,24)", "--down", "Leaf00[5]", "--method", "closed-form"]]


def complaints(name, data):
    return [f"{'/'.join(map(str, error.absolute_path))}: {error.message}"[:300] for error in JUDGE[name].iter_errors(data)]


@pytest.mark.parametrize("name", SCHEMA)
def test_it_is_a_schema(name):
    jsonschema.Draft202012Validator.check_schema(SCHEMA[name])


def test_both_say_the_same_of_a_key():
    """But for the state: a plan is active or failed."""
    status, plan = SCHEMA["status"]["properties"], SCHEMA["plan"]["properties"]
    assert set(status) - set(plan) == {"shadow", "state_dir"} and set(plan) - set(status) == OWN
    assert {key for key in set(status) & set(plan) if status[key] != plan[key]} == {"state"}
    status, plan = SCHEMA["status"]["$defs"], SCHEMA["plan"]["$defs"]
    assert set(plan) - set(status) == {"link", *(f"by_{argument}" for argument in ("port", "cut", "distance", "lump", "last", "link", "ways"))}
    assert all(plan[key] == status[key] for key in set(plan) & set(status))


@pytest.mark.parametrize("args", PLANS, ids=" ".join)
def test_plans(fors, args):
    assert complaints("plan", json.loads(fors("plan", *args, "--json").out)) == []


@pytest.mark.parametrize("args", FAILED, ids=" ".join)
def test_no_plan(fors, args):
    data = json.loads(fors("plan", *args, "--json", code=1).out)
    assert data["state"] == "failed" and complaints("plan", data) == []


def test_plans_over_other_tables(fors, unpacked):
    engines = unpacked("engines")
    found = sorted(engines.glob("*.lfts"))
    assert found
    for lfts in found:
        net = next(path for path in engines.iterdir() if path.suffix != ".lfts" and path.name.split(".")[0] == lfts.name.split(".")[0]
                   and path.suffix in (".net", ".ibnetdiscover"))
        data = json.loads(fors("plan", "--fabric", net, "--lfts", lfts, "--json").out)
        assert complaints("plan", data) == [] and OWN <= set(data) and "leaves" not in data, lfts.name


def values_of(data, path=()):
    """(path) of each value, also in lists and objects."""
    for key, value in data.items() if isinstance(data, dict) else enumerate(data):
        yield (*path, key)
        if isinstance(value, (dict, list)):
            yield from values_of(value, (*path, key))


def changed(data, path, change):
    data = copy.deepcopy(data)
    parent = data
    for key in path[:-1]:
        parent = parent[key]
    change(parent, path[-1])
    return data


def as_status(data):
    """What a plan says as status.json has it."""
    return {key: value for key, value in data.items() if key not in OWN}


# What no value of any key may become.
CHANGES = {
    "an object": lambda parent, key: parent.__setitem__(key, {"what": "is this"}),
    "negative": lambda parent, key: parent.__setitem__(key, -1),
    "renamed": lambda parent, key: parent.__setitem__("x" + key, parent.pop(key)),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", ["plan", "status"])
def test_what_is_otherwise_is_refused(fors, name, change):
    good = json.loads(fors("plan", *PLANS[2], "--json").out)
    if name == "status":
        good = {**as_status(good), **STATUS}
    assert complaints(name, good) == []
    tried = 0
    for path in values_of(good):
        if change != "renamed" or isinstance(path[-1], str):
            tried += 1
            assert complaints(name, changed(good, path, CHANGES[change])), (path, change)
    assert tried > 60


SINCE = 1795556348600
CABLE = {"a": "Leaf00", "a_port": 5, "b": "Spine00", "b_port": 1, "since_ms": SINCE, "used": True, "planned": False, "rate": "1xQDR"}
STATUS = {  # what a plan has not, so that each key has a value once; that of the whole goes with jobs while nothing is decided
    "state": "planning", "epoch": SINCE, "degraded_links": [CABLE], "state_since_ms": SINCE,
    "repairs": {"list": [{"a": "Leaf00", "a_port": 5, "b": "Spine00", "b_port": 1, "phases": 17}], "untried": 0},
    "jobs": [{"name": "a.1", "state": "active", "exclusive": True, "job_index": False, "over": "own", "reason": None,
              "servers": 4, "missing": 0, "leaves": 2, "lanes": 4, "phases": 4, "lower_bound": 4, "alone_bound": 4, "path_index": 0, "epoch": SINCE,
              "expected_phases": 4, "demand": "events", "demand_reason": None, "demand_epoch": SINCE, "demand_phases": 3,
              "demand_over_bound": 1.25, "ratio": 1.0}],
}


def test_an_active_state_has_a_schedule(fors):
    good = json.loads(fors("plan", *PLANS[0], "--json").out)
    for key in ("phases", "servers", "length", "method"):
        assert complaints("plan", {**good, key: None}) and complaints("status", {**as_status(good), key: None})
        assert complaints("plan", {**good, "state": "failed", "reason": "no plan", key: None}) == []
    good = as_status(good)
    nothing = {"phases": None, "length": None, "method": None}
    assert complaints("status", {**good, "jobs": STATUS["jobs"], **nothing}) == []  # each job has one of its own, the whole has none
    for key in nothing:
        assert complaints("status", {**good, "jobs": STATUS["jobs"], **nothing, key: good[key]})
    assert complaints("status", {**good, "state": "shadow"})  # and nothing of the shadow
    assert complaints("status", {**good, "state": "sleeping"})
