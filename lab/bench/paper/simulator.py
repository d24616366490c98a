# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""`fors simulate` and `fors analyze`, for figures.

The same options over the same files give the same numbers, so what one run gave is kept, and a bench that was stopped goes on after the last of
them. Several run side by side: numbers do not depend on it.
"""
import gzip
import hashlib
import json
import os
import pathlib
import re
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor

import bench
import harness

_kept = {"folder": None, "is_used": False}


def keep_in(folder, is_used):
    """From now on runs are kept in this folder; is_used: and taken from there."""
    folder.mkdir(parents=True, exist_ok=True)
    _kept.update(folder=folder, is_used=is_used)


def _file(words):
    """Where such a run is kept: by the program, the options, and what is in the files that they name."""
    if not _kept["folder"]:
        return None
    told = [pathlib.Path(word).read_bytes() if word.startswith("/") and pathlib.Path(word).is_file() else word.encode() for word in words]
    return _kept["folder"] / (hashlib.sha256(b"\0".join([bench.program().encode(), *told])).hexdigest()[:32] + ".json.gz")


def _run(words, has_page):
    with tempfile.TemporaryDirectory(prefix="fors-paper-") as name:
        page = pathlib.Path(name) / "page"
        done = subprocess.run(harness.fors_command(*words, "--json", *(["--html", page] if has_page else [])), capture_output=True, text=True)
        if done.returncode == 2 or not done.stdout:
            raise harness.HarnessError(f"{' '.join(words)}: {done.stderr}")
        result = json.loads(done.stdout)
        if has_page:
            result["page"] = json.loads(re.search(r'id="data">(.*?)</script>', page.read_text(), re.S)[1])
        return result


def simulate(*args, command="simulate", has_page=False):
    """What the command says in JSON; with has_page also, in "page", what its page shows."""
    words = [command, *map(str, args)]
    file = _file([*words, str(has_page)])
    if file and _kept["is_used"] and file.exists():
        return json.loads(gzip.decompress(file.read_bytes()))
    result = _run(words, has_page)
    if file:
        half = file.with_suffix(f".{os.getpid()}.{id(result)}")
        half.write_bytes(gzip.compress(json.dumps(result).encode(), mtime=0))
        half.rename(file)
    return result


def side_by_side(function, several):
    """[function(one) for one of several], as many at once as there are processors."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(function, several))


def arrived(result, begin, end):
    """Payload that arrived between two times, ns: bytes, by the bins of the time line."""
    width = result["time_line"]["bin_ns"]
    return sum(count * max(0, min(end, (i + 1) * width) - max(begin, i * width)) / width for i, count in enumerate(result["time_line"]["arrived_bytes"]))
