# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""fors indices: throughput indices of rules, of tables, and of degraded fabrics."""
import json

import pytest

KINDS = ["2DNN", "2DNNDIAG", "3DNN", "3DNNDIAG", "permutation", "bisect", "shift", "RANDN(20)", "RANDOM(20)"]


@pytest.fixture
def indices(fors):
    """indices(args...): what --json says, the rows by (pattern, map)."""
    def run(*args):
        result = json.loads(fors("indices", *args, "--json", code=0).out)
        result["by"] = {(row["pattern"], row["map"]): row for row in result["indices"]}
        return result
    return run


def test_a_full_tree(indices):
    result = indices("--synthetic", "XGFT(3;4,4,8;1,4,4)", "--routing", "d-mod-k", "--samples", "2")
    assert result["servers"] == 128 and result["samples"] == 2 and result["optimum_is_exact"] is True
    assert set(result["by"]) == {(kind, how) for kind in KINDS for how in ("direct", "random")}
    assert all(abs(row["optimum"] - 1) < 1e-9 and 0.3 < row["routed"] < 1 + 1e-9 for row in result["indices"])
    assert abs(result["by"]["shift", "direct"]["routed"] - 1) < 1e-9
    assert result["by"]["shift", "random"]["routed"] < 0.9


def test_the_same_for_any_number_of_threads(indices):
    source = ["--synthetic", "XGFT(2;6,4;1,3)", "--routing", "random", "--seed", "5"]
    assert indices(*source, "--threads", "1") == indices(*source, "--threads", "3")


def test_tables_of_fors_are_d_mod_k(indices):
    rules = indices("--synthetic", "XGFT(2;4,6;1,4)", "--routing", "d-mod-k")
    tables = indices("--synthetic", "FT(2;4,6)", "--routing", "fors")
    assert rules["indices"] == tables["indices"]


def test_tables_from_a_file(indices, fors, tmp_path):
    source = ["--synthetic", "FT(2;4,6)", "--lmc", "0"]
    net, lfts = tmp_path / "net", tmp_path / "lfts"
    net.write_text(fors("fabric", *source, "--format", "net", code=0).out)
    lfts.write_text(fors("fabric", *source, "--format", "lfts", code=0).out)
    own = indices("--synthetic", "FT(2;4,6)", "--routing", "fors")
    assert indices("--fabric", net, "--lfts", lfts)["indices"] == own["indices"]


def test_a_degraded_fabric_has_a_bound(indices):
    result = indices("--synthetic", "FT(2;4,6)", "--routing", "fors", "--down", "Leaf00[5]")
    assert result["optimum_is_exact"] is False
    assert result["by"]["shift", "direct"]["optimum"] < 1
    assert indices("--synthetic", "FT(2;4,6)", "--routing", "fors", "--down", "Spine02")["optimum_is_exact"] is True


def test_too_few_servers_for_some_patterns(indices, fors):
    source = ["--synthetic", "XGFT(1;4;1)", "--routing", "hash"]
    by = indices(*source)["by"]
    assert by["RANDN(20)", "direct"]["routed"] is None
    assert abs(by["permutation", "random"]["routed"] - 1) < 1e-9
    assert "there is no such pattern" in fors("indices", *source, code=0).out


def test_some_servers_only(indices, write):
    guids = write("guids", "".join(f"0x{0x100001 + 2 * i:x}\n" for i in range(0, 24, 2)))
    result = indices("--synthetic", "XGFT(2;4,6;1,4)", "--routing", "d-mod-k", "--participants", guids)
    assert result["servers"] == 12
    assert all(row["routed"] is None or row["routed"] <= 1 + 1e-9 for row in result["indices"])


@pytest.mark.parametrize("args, words", [
    (["--synthetic", "XGFT(2;4,6;1,4)", "--routing", "ospf"], "ospf"),
    (["--synthetic", "XGFT(2;4,6;1", "--routing", "d-mod-k"], "character"),
    (["--fabric", "net", "--routing", "d-mod-k"], "--synthetic"),
    (["--synthetic", "XGFT(2;4,6;1,4)"], "which tables"),
    (["--synthetic", "XGFT(2;4,6;1,4)", "--routing", "hash", "--samples", "many"], "samples"),
])
def test_bad_usage(fors, args, words):
    assert words in fors("indices", *args, code=2).err
