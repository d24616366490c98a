# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Each public function has a manual page of its group, and an entry in the version script; what is shown as code is code."""
import os
import pathlib
import re
import shutil
import subprocess

import pytest

SRC = pathlib.Path(__file__).resolve().parents[2]


def functions():
    header = (SRC / "libforsched" / "forsched.h").read_text()
    return set(re.findall(r"^(?:enum forsched_err|void|int|uint\d+_t|const char \*)\s*(forsched_\w+)\(", header, re.M))


def test_every_function_is_exported_and_has_a_page():
    names = functions()
    assert len(names) == 37
    exported = set(re.findall(r"^\t(forsched_\w+);", (SRC / "libforsched" / "libforsched.map").read_text(), re.M))
    assert exported == names
    pages = "\n".join(page.read_text() for page in (SRC / "man").glob("forsched*.3"))
    rules = (SRC / "man" / "local.mk").read_text()
    for name in names:
        assert re.search(rf"\b{name}\(", pages), name
        assert f"man/{name}.3" in rules, name


def test_the_settings_in_the_manual_are_those_of_the_library():
    files = [*(SRC / "libforsched" / "mpi").glob("*.c"), SRC / "libforsched" / "whoami.c"]
    code = "\n".join(path.read_text() for path in files)
    page = (SRC / "man" / "libforsched-mpi.7").read_text()
    used = set(re.findall(r'"(FORSCHED_[A-Z_]+)"', code))
    assert used == set(re.findall(r"^\.B (FORSCHED_[A-Z_]+)$", page, re.M))


# What the pieces of code call that is the reader's own, and what they take as declared before.
OWN = """
#include <stdio.h>
#include <forsched.h>
void post_send(uint32_t to, uint16_t dlid, uint8_t bits), send_to(uint32_t to, uint16_t dlid, uint8_t bits);
void wait_for_data(uint32_t from), receive_from(uint32_t from), wait_until_received(uint32_t from);
void start_sending(uint32_t to), wait_until_sent(void), barrier(void), wait_for_all_servers(void);
int rank_on(uint32_t server, uint32_t number);
void start_receiving(int rank), send_all(int rank), wait_for_all_receives(void);
void log_warning(const char *text);
int without_a_schedule(void);
"""
MPI = """
typedef int MPI_Comm;
enum { MPI_UINT64_T, MPI_MIN };
int MPI_Allreduce(const void *, void *, int, int, int, MPI_Comm);
"""
# Of each piece: what of these it does not declare itself.
GIVEN = {"schedule": "struct forsched *schedule = NULL", "next": "struct forsched *next = NULL", "error": "struct forsched_error error",
         "flow": "struct forsched_flow flow", "me": "uint32_t me", "phase": "uint32_t phase", "guid": "uint64_t guid", "rank": "int rank = 0",
         "comm": "MPI_Comm comm = 0", "mine": "uint64_t mine[2]", "all": "uint64_t all[2]", "my_server": "uint32_t my_server = 0, my_number = 0",
         "ranks_on": "uint32_t ranks_on[2], i, kd",
         "ah_attr": "struct { uint16_t dlid; uint8_t src_path_bits, sl; } ah_attr", "sl": "uint8_t sl"}


def pieces():
    header = (SRC / "libforsched" / "forsched.h").read_text().split("#ifndef FORSCHED_H")[0]
    found = re.findall(r"(?:^ \*\t.*\n(?: \*\n)?)+", header, re.M)
    found = [re.sub(r"^ \*\t?", "", piece, flags=re.M) for piece in found]
    page = (SRC / "man" / "forsched.3").read_text()
    found += [piece.replace("\\en", "\\n") for piece in re.findall(r"^\.EX\n(.*?)^\.EE", page, re.M | re.S)]
    doc = (SRC / "doc" / "applications.md").read_text()
    found += [piece for piece in re.findall(r"(?:^    .*\n)+", doc, re.M) if ";\n" in piece]
    return found


def test_there_are_pieces_of_code():
    assert len(pieces()) == 7  # three of the header, one of the page, three of doc/applications.md


@pytest.mark.parametrize("number", range(7))
def test_what_is_shown_as_code_compiles(number, tmp_path):
    compiler = shutil.which(os.environ.get("CC", "cc"))
    if not compiler:
        pytest.skip("no compiler here")
    piece = pieces()[number]
    given = [text for name, text in GIVEN.items()
             if re.search(rf"\b{name}\b", piece) and not re.search(rf"\b(?:u?int\w*_t|struct \w+) \*?{name}\b", piece)]
    source = tmp_path / "piece.c"
    source.write_text(OWN + MPI + "int piece(void)\n{\n" + "".join(f"{text};\n" for text in given) + piece + "return 0;\n}\n")
    done = subprocess.run([compiler, "-std=c99", "-Werror=implicit-function-declaration", "-Werror=int-conversion", "-fsyntax-only",
                           f"-I{SRC / 'libforsched'}", source], capture_output=True, text=True)
    assert done.returncode == 0, f"{piece}\n{done.stderr}"
