# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Usage: help, version, bad command lines; and that help, man page and completion know the same options."""
import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess

import pytest

from conftest import FORS, SRC, run

COMMANDS = ["plan", "schedule", "verify", "analyze", "indices", "whatif", "status", "forget", "fabric", "diff", "jobs", "links", "exclude",
            "wait-epoch", "simulate", "watch", "trial"]
METHODS = ["auto", "closed-form", "rounds", "exact", "flows"]
FT = "FT(2;2,2)"


def test_version(fors):
    assert re.fullmatch(r"fors \d+\.\d+\.\d+\n", fors("--version").out)


def test_overview_names_every_command(fors):
    out = fors("--help").out
    assert out == fors("help").out == fors("-h").out
    for name in COMMANDS:
        assert f"\n  {name} " in out


@pytest.mark.parametrize("words", [["analyze", "--synthetic", FT], ["help", "simulate"], ["whatif", "--help"],
                                   ["fabric", "--synthetic", FT, "--routing", "sssp"],
                                   ["jobs", "--synthetic", FT, "--replay", "history", "--output-dir", "moments"]])
def test_without_the_lab(tmp_path, words):
    """One line that names the package. The copy finds no fors-lab beside it; where one is installed, there is nothing to see."""
    alone = shutil.copy(FORS, tmp_path / "fors")
    done = run(alone, *words)
    if done.code == 0:
        pytest.skip("fors-lab is installed")
    assert done.code == 2 and done.out == ""
    assert done.err.count("\n") == 1 and done.err.endswith("it is in the package fors-lab\n")
    assert run(alone, "--help").code == run(alone, "plan", "--synthetic", FT).code == 0


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command(fors, name):
    out = fors(name, "--help").out
    assert out == fors("help", name).out == fors(name, "-h").out
    assert out.startswith(f"Usage: fors {name} ")
    assert all(len(line) <= 100 for line in out.splitlines())


@pytest.mark.parametrize("args, text", [
    ([], "which command"),
    (["frobnicate"], "unknown command 'frobnicate'"),
    (["--frobnicate"], "unknown option '--frobnicate'"),
    (["help", "frobnicate"], "unknown command"),
    (["help", "plan", "more"], "surplus"),
    (["--version", "more"], "surplus"),
    (["plan"], "--fabric FILE or --synthetic SPEC"),
    (["plan", "--frobnicate"], "'--frobnicate'"),
    (["plan", "-x"], "'-x'"),
    (["plan", "--fabric"], "'--fabric' needs a value"),
    (["plan", "--synthetic", FT, "--json=3"], "takes no value"),
    (["plan", "--synthetic", FT, "surplus"], "surplus argument 'surplus'"),
    (["plan", "--synthetic", FT, "--fabric", "x"], "exclude each other"),
    (["plan", "--synthetic", FT, "--lmc", "8"], "from 0 to 7"),
    (["plan", "--synthetic", FT, "--lmc", "-1"], "from 0 to 7"),
    (["plan", "--synthetic", FT, "--lmc", "2x"], "from 0 to 7"),
    (["plan", "--synthetic", FT, "--lmc", ""], "from 0 to 7"),
    (["plan", "--synthetic", FT, "--lmc", "99999999999999999999"], "from 0 to 7"),
    (["plan", "--synthetic", FT, "--method", "magic"], "one of: auto, rounds"),
    (["plan", "--synthetic", FT, "--ilp-seconds", "5"], "--ilp-seconds needs --method ilp"),
    (["plan", "--synthetic", FT, "--plan-steps", "5", "--method", "closed-form"], "--plan-steps is for methods that count steps"),
    (["plan", "--synthetic", FT, "--plan-steps", "0"], "from 1 to 1000000"),
    (["plan", "--synthetic", FT, "--lfts", "x", "--lmc", "0"], "exclude each other"),
    (["analyze", "--synthetic", FT, "--routing", "shortest", "--lmc", "1", "--pattern", "shift"], "--lmc is for --routing fors"),
    (["analyze", "--synthetic", FT, "--lfts", "x", "--lmc", "1", "--pattern", "shift"], "--lmc is for --routing fors"),
    (["indices", "--synthetic", FT, "--routing", "d-mod-k", "--lmc", "1"], "--lmc is for --routing fors"),
    (["analyze", "--synthetic", FT, "--routing", "fors", "--schedule", "x", "--map", "random"], "goes without"),
    (["analyze", "--synthetic", FT, "--routing", "fors", "--pattern", "per-job-plan", "--jobs", "x", "--policy", "random"], "goes without"),
    (["analyze", "--synthetic", FT, "--routing", "fors", "--pattern", "per-job-plan", "--jobs", "x", "--message", "1MiB"], "goes without"),
    (["whatif", "--synthetic", FT, "--measured", "100"], "but not --simulate"),
    (["whatif", "--synthetic", FT, "--simulate", "--measured", "100", "--barrier", "none"], "without --barrier"),
    (["plan", "--fabric", "FT(2;20,18)"], "to make that fabric up: --synthetic 'FT(2;20,18)'"),
    (["fabric", "--fabric", "xgft(2;4,4;1,4)"], "--synthetic 'xgft(2;4,4;1,4)'"),
    (["plan", "--synthetic", "/dev/null"], "to read one from the file: --fabric /dev/null"),
    (["schedule"], "an argument is missing"),
    (["schedule", "a", "b"], "surplus argument 'b'"),
    (["schedule", "a", "--format", "xml"], "one of: text, csv, json"),
    (["schedule", "a", "--server", "me"], "has to be a port GUID"),
    (["schedule", "a", "--server", "-1"], "has to be a port GUID"),
    (["verify", "--synthetic", FT], "--lfts FILE is missing"),
    (["verify", "--synthetic", FT, "--lfts", "x"], "--schedule FILE is missing"),
    (["status", "a", "b"], "surplus argument 'b'"),
    (["diff"], "an argument is missing"),
    (["diff", "a"], "an argument is missing"),
    (["diff", "a", "b", "c"], "surplus argument 'c'"),
    (["forget"], "an argument is missing"),
    (["forget", "Spine01"], "'Spine01' has to be a node GUID"),
    (["forget", "0x0"], "has to be a node GUID"),
    (["forget", "0x1", "a", "b"], "surplus argument 'b'"),
    (["fabric", "--synthetic", FT, "--format", "xml"], "one of: net, json, lfts, slurm, slurm-yaml, svg, dot"),
    (["plan", "net"], "surplus argument 'net'; a fabric is named by --fabric FILE"),
    (["fabric", "--synthetic", FT, "--routing", "magic"], "one of: shortest, up-down, sssp, dor"),
    (["simulate", "--fabric", "net", "--routing", "magic", "--pattern", "shift"], "no routing 'magic'; there are fors; models"),
    (["analyze", "--synthetic", "TORUS(3x3;2)", "--routing", "magic", "--pattern", "shift"], "no routing 'magic'"),
    (["plan", "--fabric", ""], "'--fabric' names no file"),
    (["fabric", "--synthetic", FT, "--output="], "'--output' names no file"),
    (["fabric", "--synthetic", FT, "--format", "svg", "--state", ""], "'--state' names no file"),
    (["schedule", ""], "an argument is empty"),
    (["diff", "a", ""], "an argument is empty"),
    (["wait-epoch", ""], "an argument is empty"),
    (["plan", "--synthetic", FT, "--ilp-seconds", "0"], "from 1 to 1000000"),
    (["indices", "--synthetic", FT, "--routing", "fors", "--samples", "0"], "from 1 to 10000"),
    (["simulate", "--synthetic", FT, "--routing", "fors", "--pattern", "shift", "--vls", "-1"], "from 1 to 8"),
    (["simulate", "--synthetic", FT, "--routing", "fors", "--pattern", "shift", "--speed", "x"], "at most 1000000"),
])
def test_bad_usage(fors, args, text):
    result = fors(*args, code=2)
    assert text in result.err
    assert "--help'" in result.err
    assert result.out == ""


def test_a_minus_is_no_file_to_write(fors, tmp_path):
    for args in (["plan", "--output"], ["fabric", "--output"], ["jobs", "--jobs", "/dev/stdin", "--svg"], ["whatif", "--html"]):
        result = fors(args[0], "--synthetic", FT, *args[1:], "-", code=2, cwd=tmp_path, stdin=b"a: Node00-00\n")
        assert "standard output is /dev/stdout" in result.err
    assert not list(tmp_path.iterdir())
    assert fors("fabric", "--synthetic", FT, "--output", "/dev/stdout").out == fors("fabric", "--synthetic", FT).out


def test_output_that_cannot_be_written(fors):
    with open("/dev/full", "wb") as full:
        done = subprocess.run([FORS, "--help"], stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 2 and b"could not be written" in done.stderr


def options_in_help(fors, name):
    """{option: its argument or ''} as the table of options has them."""
    return dict(re.findall(r"^  (--[a-z-]+)(?: (\[?[A-Z]\S*))?", fors(name, "--help").out, re.M))


def completion(words):
    script = f'source <("{FORS}" completion bash); COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); ' \
             '_fors; printf "%s\\n" "${COMPREPLY[@]}"'
    return set(subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True).stdout.split())


def test_completion_of_what_follows_an_equals_sign(tmp_path, monkeypatch):
    """bash breaks the line at `=`, and completes the word behind it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a-file").touch()
    assert completion("fors fabric --format =") == completion("fors fabric --format ''")
    assert completion("fors fabric --format = js") == {"json"}
    assert completion("fors plan --output =") == completion("fors plan --output = a-") == {"a-file"}
    assert completion("fors plan --output = a-file --json") == {"--json"}


def test_completion_of_lists(fors):
    assert completion("fors whatif --engines min") == {"minhop"}
    assert completion("fors whatif --engines minhop,up") == {"minhop,updn"}
    assert completion("fors whatif --engines = minhop,updn,dfs") == {"minhop,updn,dfsssp"}


# --- the other shells say themselves what they offer ------------------------------------------------------------------

def fish(line):
    if not shutil.which("fish"):
        pytest.skip("fish is not installed")
    script = f'"{FORS}" completion fish | source; complete -C "$LINE"'
    done = subprocess.run(["fish", "--no-config", "-c", script], capture_output=True, text=True, check=True,
                          env={**os.environ, "LINE": line})
    assert done.stderr == ""
    return {offer.split("\t")[0] for offer in done.stdout.splitlines()}


ZSH = r'''
PS1= ; fpath=($WORK $fpath); autoload -Uz compinit; compinit -u -d $WORK/dump
compadd() {
	[[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]] && { builtin compadd "$@"; return }
	local -a hits; builtin compadd -A hits "$@"; print -rl -- $hits >>$WORK/hits
}
note-end() { : >$WORK/end }
complete-it() { comppostfuncs=(note-end); zle complete-word }
zle -N complete-it; bindkey '^I' complete-it
'''


def zsh(line, folder):
    """A terminal with zsh, where somebody types `line` and the tabulator."""
    if not shutil.which("zsh"):
        pytest.skip("zsh is not installed")
    for name in ("hits", "end"):
        (folder / name).unlink(missing_ok=True)
    (folder / "_fors").write_bytes(subprocess.run([FORS, "completion", "zsh"], capture_output=True, check=True).stdout)
    (folder / "setup").write_text(ZSH)
    pid, terminal = pty.fork()
    if not pid:
        os.chdir(folder)
        os.execvpe("zsh", ["zsh", "-f", "-i"], {**os.environ, "WORK": str(folder), "TERM": "dumb"})
    os.write(terminal, f". ./setup\n{line}\t".encode())
    while not (folder / "end").exists() and wait_for(terminal):
        pass
    os.close(terminal)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return set((folder / "hits").read_text().split()) if (folder / "hits").exists() else set()


def wait_for(terminal):
    """Read what zsh prints, which it would wait for; False after a minute of silence."""
    ready = select.select([terminal], [], [], 0.1)[0]
    if ready:
        os.read(terminal, 4096)
    wait_for.silent = 0 if ready else getattr(wait_for, "silent", 0) + 1
    assert wait_for.silent < 600, "zsh does not complete"
    return True


@pytest.mark.parametrize("name", COMMANDS)
def test_fish_knows_the_options(fors, name):
    assert {o for o in fish(f"fors {name} --") if o.startswith("--")} == options_in_help(fors, name).keys()


@pytest.mark.parametrize("name", ["plan", "status", "whatif"])
def test_zsh_knows_the_options(fors, name, tmp_path):
    assert zsh(f"fors {name} --", tmp_path) == options_in_help(fors, name).keys()


@pytest.mark.parametrize("line, offers", [
    ("fors pl", {"plan"}), ("fors help pl", {"plan"}), ("fors schedule --format c", {"csv"}), ("fors plan --method roun", {"rounds"}),
])
def test_fish_and_zsh_complete_values(line, offers, tmp_path):
    assert fish(line) == offers
    assert zsh(line, tmp_path) & offers == offers


def test_fish_and_zsh_complete_behind_equals_signs_and_commas(tmp_path):
    assert fish("fors schedule --format=c") == {"--format=csv"}
    assert fish("fors whatif --engines minhop,up") == {"minhop,updn"}
    assert "csv" in zsh("fors schedule --format=c", tmp_path)
    assert "updn" in zsh("fors whatif --engines=minhop,up", tmp_path)


def man_page(*names):
    """Without fonts within a line; of fors and fors-lab, one behind the other."""
    text = "".join((SRC / "man" / name).read_text() for name in names or ("fors.1", "fors-lab.1"))
    return re.sub(r"\\f[BIR]", "", text.replace("\\-", "-"))


def in_man_page(section):
    """The text of the sections of this name."""
    return "".join(re.findall(rf"\n\.SH {section}\n(.*?)(?=\n\.SH )", man_page(), re.S))


def options_in_man_page():
    """{option: its arguments, '' for none} of the section OPTIONS; an option may be one with an argument in some commands."""
    section = in_man_page("OPTIONS")
    page = {}
    for option, argument in re.findall(r'^\.TP\n\.BI? (--[a-z-]+)(?: "([^"]*)")?$', section, re.M):
        page.setdefault(option, set()).add((argument or "").strip())
    return page


def options_in_synopsis(name):
    line, = re.findall(rf"^fors {name}(?= ).*(?:\n .*)*", in_man_page("SYNOPSIS"), re.M)
    return set(re.findall(r"--[a-z-]+", line))


@pytest.mark.parametrize("name", COMMANDS)
def test_man_page_and_completion_know_the_options(fors, name):
    options, page = options_in_help(fors, name), options_in_man_page()
    assert "--help" in options and len(options) >= 2
    assert completion(f"fors {name} --") == options.keys()
    assert options_in_synopsis(name) == options.keys() - {"--help"}
    assert {option: argument for option, argument in options.items() if argument in page.get(option, ())} == options


def test_man_page_knows_no_other_options(fors):
    everywhere = {option for name in COMMANDS for option in options_in_help(fors, name)}
    assert options_in_man_page().keys() == everywhere


@pytest.mark.parametrize("name", COMMANDS)
def test_completion_of_arguments(fors, name, tmp_path, monkeypatch):
    """Files where a FILE is wanted, names where there are names, and never options."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a-file").touch()
    for option, argument in options_in_help(fors, name).items():
        if argument == "FILE":
            assert completion(f"fors {name} {option} ''") == {"a-file"}, option
        elif argument and not argument.startswith("["):  # else it may be left out
            assert not completion(f"fors {name} {option} ''") & {"a-file", "--help"}, option


@pytest.mark.parametrize("name", COMMANDS)
def test_arguments_that_are_offered_are_taken(fors, name):
    """Every name that completion offers, against the command itself."""
    tables = ["--lfts", "/dev/null"] if name == "verify" else []
    for option, argument in options_in_help(fors, name).items():
        for value in completion(f"fors {name} {option} ''") if argument not in ("", "FILE", "[SECONDS]") else []:
            result = run(FORS, name, *(["/dev/null"] * (1 + (name == "diff")) if name in ("schedule", "diff") else ["--synthetic", FT, *tables]), option, value)
            assert "has to be" not in result.err, (option, value, result.err)


def test_routings_and_patterns_that_are_offered_are_known(fors, write):
    for rule in completion("fors analyze --routing ''") - {"fors"}:
        spec = "TORUS(3x3;2)" if rule == "dor" else "XGFT(2;2,2;1,2)"
        jobs = ["--jobs", write("jobs", "a: 0-3\n")] if rule == "sar" else []
        fors("analyze", "--synthetic", spec, "--routing", rule, "--pattern", "shift", *jobs)
    for pattern in completion("fors analyze --pattern ''"):
        assert "no pattern" not in run(FORS, "analyze", "--synthetic", FT, "--routing", "fors", "--pattern", pattern).err


def test_completion_is_for_shells(fors):
    assert "completion" not in fors("--help").out
    assert "no completion for the shell 'csh'" in fors("completion", "csh", code=2).err
    assert "which shell" in fors("completion", code=2).err


def test_completion_knows_commands_and_values(fors):
    assert completion("fors ''") == {*COMMANDS, "help", "--help", "--version"}
    assert completion("fors help p") == {"plan"}
    assert set(METHODS) <= completion("fors plan --method ''")
    assert completion("fors fabric --format ''") == {"net", "json", "lfts", "slurm", "slurm-yaml", "svg", "dot"}


FOUR = ["--synthetic", "FT(2;4,4)"]
UNDER_FORS = [*FOUR, "--routing", "fors", "--pattern"]


def keys_of(value):
    """Without names of leaves, which are keys in a list of lanes."""
    if isinstance(value, dict):
        return {key for key in value if key.islower()}.union(*map(keys_of, value.values()))
    return set().union(*map(keys_of, value)) if isinstance(value, list) else set()


@pytest.mark.parametrize("args", [
    ["plan", *FOUR], ["plan", "--synthetic", "XGFT(3;2,2,2;1,2,2)"], ["plan", "--fabric", "net", "--lfts", "lfts"], ["fabric", *FOUR, "--format", "json"],
    ["schedule", "schedule", "--format", "json"], ["schedule", "ways", "--format", "json"], ["diff", "net", FOUR[1]], ["links", *FOUR],
    ["jobs", *FOUR, "--lmc", "2", "--jobs", "jobs"], ["analyze", *UNDER_FORS, "plan", "--measured", "100", "--policy", "random", "--optimum"],
    ["analyze", *UNDER_FORS, "per-job-plan", "--jobs", "jobs"], ["indices", *FOUR, "--routing", "fors"], ["whatif", "--synthetic", FT],
    ["simulate", *UNDER_FORS, "plan", "--healthy", "100", "--crossbar", "--load", "0.5"], ["simulate", *UNDER_FORS, "plan"],
], ids=lambda args: "-".join(word.strip("-") for word in args[:1] + args[3:]))
def test_man_pages_tell_of_all_keys_of_json(fors, tmp_path, args):
    """Each in the part of its command; those of status.json in the page of the plugin."""
    for name, more in (("net", ["--down", "Leaf00[5]"]), ("lfts", ["--format", "lfts"])):
        (tmp_path / name).write_text(fors("fabric", *FOUR, *more).out)
    (tmp_path / "jobs").write_text("a [exclusive]: Node00-00, Node01-00\nb: Node02-00\n")
    fors("plan", *FOUR, "--output", "schedule", cwd=tmp_path)
    fors("plan", "--synthetic", "XGFT(3;2,2,2;1,2,2)", "--output", "ways", cwd=tmp_path)
    out = run(FORS, *args, *([] if "--format" in args else ["--json"]), cwd=tmp_path).out
    text = man_page().partition(f"\n.SS fors {args[0]}\n")[2].partition("\n.SS ")[0]
    if "per-job-plan" in args:
        text += in_man_page("OPTIONS")
    if args[0] in ("plan", "fabric"):
        text += man_page("opensm-fors.8")
    assert keys_of(json.loads(out)) <= set(re.findall(r"\w+", text))


def test_settings_of_the_plugin_are_told():
    """Each in the manual page and in the example, and no others."""
    table = (SRC / "daemon/settings/settings.c").read_text().partition("key keys[] = {")[2].partition("};")[0]
    known = re.findall(r'^\t\{"(\w+)", ', table, re.M)
    page = (SRC / "man/fors.conf.5").read_text().partition("\n.SH KEYS\n")[2].partition("\n.SH ")[0]
    assert sorted(known) == sorted(re.findall(r"^\.TP\n\.B (\w+)$", page, re.M)) and len(known) > 15
    assert set(known) == set(re.findall(r"^#(\w+) =", (SRC / "opensm-conf/fors.conf").read_text(), re.M))


def test_examples_of_the_man_page_are_there():
    for name in COMMANDS:
        assert f".SS fors {name}\n" in man_page()


def test_combinations_are_of_options_that_there_are():
    """A row of the table that names an option which its commands do not have would never apply."""
    text = (SRC / "cli/combinations.c").read_text() + (SRC / "lab/options.c").read_text()
    short = dict(re.findall(r'#define (\w+) "([^"]*)"', text))
    rows = re.findall(r'^\t\{([A-Z_| ]+), ((?:"[^"]*"|PER_JOB|IN_TIME| )+), (?:NEEDS|GOES_WITHOUT),\s+((?:"[^"]*"|PER_JOB|IN_TIME|\s)+),', text, re.M)
    assert len(rows) > 30 and len(rows) == len(re.findall(r'(?:NEEDS|GOES_WITHOUT),\s+["PI]', text))
    ids = {"WITH_PATTERN": "ANALYZE SIMULATE", "WITH_TABLES": "ANALYZE SIMULATE INDICES"}
    helps = {name: run(FORS, name, "--help").out for name in COMMANDS}
    for commands, *sides in rows:
        names = " ".join(ids.get(word, word) for word in re.findall(r"\w+", commands)).lower().split()
        for side in sides:
            words = "".join(short[word] if word in short else word.strip('"') for word in re.findall(r'"[^"]*"|PER_JOB|IN_TIME', side))
            for option in words.split("|"):
                option = re.match(r"[a-z-]+", option)[0]
                assert any(f"\n  --{option}" in helps[name] for name in names), (commands, option)
