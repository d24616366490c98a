# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The pages of `fors analyze` and `fors whatif` in a real browser (Debian's chromium, headless): a script error, a
request to the network, or something wider than the window fails, on a phone, on a desk and on paper. The pictures too."""
import html
import json
import pathlib
import re
import shutil
import subprocess

import pytest

import harness

# Watches from before the page's own script runs, and tells the page around it, FRAMES, what it saw. Frames, because a window
# of chromium is never narrower than 500 pixels; to the page in it a frame is a window. What console.error() is told is a fault too.
WATCH = """<script>
window.faults = [];
addEventListener("error", e => faults.push(String(e.message || e.target)), true);
console.error = (...words) => faults.push(words.join(" "));
addEventListener("unhandledrejection", e => faults.push(String(e.reason)));
const report = () => {
	const root = document.documentElement, wide = [];
	for (const node of document.querySelectorAll("main *")) {
		if (node.closest(".plot, .rows") && !node.matches(".plot, .rows"))
			continue;
		const box = node.getBoundingClientRect();
		if (box.width && (box.right > innerWidth + 1 || box.left < -1))
			wide.push(node.tagName + "." + node.className);
	}
	const seen = {faults: faults, inner: innerWidth, scroll: root.scrollWidth, wide: wide,
		requests: performance.getEntriesByType("resource").map(e => e.name),
		lines: document.querySelectorAll("svg line.hit").length, boxes: document.querySelectorAll("svg rect.box").length,
		dead: document.querySelectorAll("svg line.dead").length,
		flat: [...document.querySelectorAll("svg line.dead")].filter(e => e.getAttribute("y1") === e.getAttribute("y2")).length, squares: document.querySelectorAll("svg rect.hit").length,
		headings: [...document.querySelectorAll("h2")].map(e => e.textContent),
		tiny: [...document.querySelectorAll("svg text")].filter(e => e.getBoundingClientRect().height < 7).length,
		engines: [...document.querySelectorAll("svg path.engine")].map(e => getComputedStyle(e).stroke),
		labels: [...document.querySelectorAll("svg text:not(.tick)")].map(e => e.textContent),
		ticks: [...document.querySelectorAll("svg .tick")].map(e => e.textContent),
		text: document.querySelector("main").innerText};
	parent.postMessage(seen, "*");
};
addEventListener("load", () => {
	document.querySelectorAll("button").forEach(button => button.click());
	const input = document.querySelector("input");
	if (input) { input.value = "spine00"; input.oninput(); input.value = ""; input.oninput(); }
	setTimeout(report, 300);
});
</script>
"""

FRAMES = """<!DOCTYPE html><pre id="report"></pre>
FRAMES
<script>
const seen = [];
addEventListener("message", e => { seen.push(e.data); document.getElementById("report").textContent = JSON.stringify(seen); });
</script>
"""


WIDTHS = [390, 400, 1280, 1400]
TOP = pathlib.Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(not shutil.which("chromium"), reason="chromium is missing. On Debian: apt-get install chromium")


def run_browser(folder, *arguments):
    """Its standard output. A profile of its own, so that any number of them run side by side."""
    done = subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run",
                           "--disable-dev-shm-usage", f"--user-data-dir={folder}/profile", *arguments],
                          capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def look(path, has_tiny=False):
    """What a page shows at each of WIDTHS, without fault. has_tiny: names in a picture may be too small to read there."""
    watched, frames = path.with_suffix(".watched.html"), path.with_suffix(".frames.html")
    text = path.read_text()
    assert text.count("<head>") == 1
    watched.write_text(text.replace("<head>", "<head>" + WATCH))
    frames.write_text(FRAMES.replace("FRAMES", "".join(f'<iframe width="{width}" height="900" style="border:0" src="{watched.name}"></iframe>'
                                                      for width in WIDTHS)))
    dom = run_browser(path.parent, "--window-size=1700,950", "--virtual-time-budget=10000", "--dump-dom", frames.as_uri())
    report = re.search(r'<pre id="report">(.+?)</pre>', dom, re.S)
    assert report, "the page's script did not come to its end:\n" + dom[-2000:]
    found = sorted(json.loads(html.unescape(report[1])), key=lambda seen: seen["inner"])
    assert [seen["inner"] for seen in found] == WIDTHS
    for seen in found:
        assert_good({**seen, "tiny": 0} if has_tiny else seen)
    return found


def assert_good(seen):
    assert seen["faults"] == [] and seen["requests"] == []
    assert seen["scroll"] <= seen["inner"] and seen["wide"] == []
    assert seen["tiny"] == 0


def fors(*arguments, code=0, env=None):
    return harness.fors(*arguments, code=code, env=env).stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("pages")


def test_a_page_needs_nothing_else(folder):
    page = folder / "alone.html"
    fors("analyze", "--synthetic", "FT(2;3,4)", "--routing", "fors", "--pattern", "shift", "--html", page)
    text = page.read_text().replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"https?:|src=|<link|@import|url\(", text)


def test_the_model_case_with_broken_cables(folder):
    page = folder / "model.html"
    fors("analyze", "--synthetic", "FT(2;20,18)", "--down", "Leaf00[21]", "--down", "Leaf05[22]", "--routing", "fors", "--pattern",
         "linear-shift", "--html", page)
    for seen in look(page):
        assert (seen["lines"], seen["boxes"], seen["dead"]) == (358, 38, 2)
        assert {"Broken cables", "The fabric", "Phases", "Fair rates", "Fullest links between switches"} <= set(seen["headings"])
        for word in ("0.515", "Leaf05", "Spine01", "of full speed"):
            assert word in seen["text"]


def test_failures(folder):
    page = folder / "failures.html"
    fors("whatif", "--synthetic", "FT(2;8,9)", "--random", "4", "--count", "20", "--html", page)
    for seen in look(page):
        assert seen["squares"] == 72
        assert "All failures, worst first" in seen["headings"] and "all 9 cables" in seen["text"]


@pytest.mark.parametrize("source, pattern", [
    (["--synthetic", "FT(2;32,48)", "--routing", "fors"], "permutation"),
    (["--synthetic", "XGFT(3;4,4,8;1,4,4)", "--routing", "random"], "RANDN(5)"),
    (["--synthetic", "FT(2;1,1;servers=1)", "--routing", "fors"], "linear-shift"),
    (["--synthetic", "FT(2;3,1)", "--routing", "fors"], "all-to-all"),
])
def test_other_fabrics(folder, source, pattern):
    page = folder / "other.html"
    fors("analyze", *source, "--pattern", pattern, "--html", page)
    for seen in look(page):
        assert seen["boxes"] > 0


def test_flows_that_do_not_arrive_are_the_first_thing_to_see(folder):
    net, tables, page = folder / "net", folder / "lfts", folder / "broken.html"
    net.write_text(fors("fabric", "--synthetic", "FT(2;4,4)", "--format", "net"))
    tables.write_text(fors("fabric", "--synthetic", "FT(2;4,4)", "--format", "lfts"))
    fors("analyze", "--fabric", net, "--lfts", tables, "--down", "Leaf00[5]", "--pattern", "linear-shift", "--html", page, code=1)
    for seen in look(page):
        assert seen["text"].index("not arrive") < seen["text"].index("of full speed")


def test_names_cannot_break_out(folder):
    """What stands in a file is shown, never run."""
    jobs, page = folder / "jobs", folder / "evil.html"
    jobs.write_text("</script><script>throw 1</script>: 0, 1\n<b>&amp;'\"@DATA@: 2, 3\n")
    fors("analyze", "--synthetic", "FT(2;2,2)", "--routing", "fors", "--pattern", "linear-shift", "--jobs", jobs, "--html", page)
    for seen in look(page):
        assert "</script><script>throw 1</script>" in seen["text"] and "<b>&amp;'\"@DATA@" in seen["text"]


def test_a_dead_spine_stays_above_the_leaves(folder):
    page = folder / "spine.html"
    fors("analyze", "--synthetic", "FT(2;4,5;empty=2/0,2/1,2/2,2/3)", "--down", "Spine01", "--routing", "fors", "--pattern", "linear-shift",
         "--optimum", "--html", page)
    for seen in look(page):
        assert (seen["dead"], seen["flat"], seen["boxes"]) == (5, 0, 9)
        assert seen["text"].index("Spine01") < seen["text"].index("The fabric") and "broken" in seen["text"]


def test_names_that_only_differ_at_their_end(folder):
    """As switches without a description have them."""
    net, page = folder / "long.net", folder / "long.html"
    text = fors("fabric", "--synthetic", "FT(2;3,4)", "--format", "net")
    net.write_text(re.sub(r'"(Leaf|Spine)', r'"S-0008f105\1', text))
    for arguments in (["analyze", "--routing", "fors", "--pattern", "linear-shift"], ["whatif"]):
        fors(*arguments, "--fabric", net, "--html", page)
        for seen in look(page):
            assert len(set(seen["labels"])) == 3 + 4


def test_counts_have_no_fractions(folder):
    page = folder / "small.html"
    fors("analyze", "--synthetic", "FT(2;1,2;servers=1)", "--routing", "fors", "--pattern", "linear-shift", "--html", page)
    for seen in look(page):
        parts = [tick for tick in seen["ticks"] if "." in tick]
        assert parts == ["0.2", "0.4", "0.6", "0.8"]  # of a cable, in the picture of rates


def test_routes_that_do_not_arrive_are_told(folder):
    net, tables, page, pattern = folder / "net", folder / "lfts", folder / "routes.html", folder / "pattern"
    net.write_text(fors("fabric", "--synthetic", "FT(2;2,2)", "--format", "net"))
    tables.write_text(fors("fabric", "--synthetic", "FT(2;2,2)", "--format", "lfts").replace("0x0004 003", "0x0004 255", 1)
                      .replace("0x0004 004", "0x0004 255", 1))
    pattern.write_text("0 1\n")
    fors("analyze", "--fabric", net, "--lfts", tables, "--pattern-file", pattern, "--html", page, code=1)
    for seen in look(page):
        assert "routes between servers do not arrive" in seen["text"]


def test_trees_that_are_no_net(folder):
    """Servers with two cables: nothing to draw but numbers; a picture of switches without cables would lie."""
    page = folder / "bare.html"
    fors("analyze", "--synthetic", "XGFT(2;2,4;2,2)", "--routing", "d-mod-k", "--pattern", "linear-shift", "--html", page)
    for seen in look(page):
        assert seen["boxes"] == 0 and "not drawn" in seen["text"]


def test_every_level_has_its_names(folder):
    """Each switch in the middle is named where there is room for all, every second or so on a phone."""
    page = folder / "three.html"
    fors("analyze", "--synthetic", "XGFT(3;4,4,4;1,3,4)", "--routing", "d-mod-k", "--pattern", "linear-shift", "--html", page)
    for seen in look(page):
        for level, count in (("Leaf", 16), ("Mid", 12), ("Spine", 12)):
            shown = [label for label in seen["labels"] if label.startswith(level)]
            assert len(shown) == len(set(shown)) == count if seen["inner"] > 1000 else len(shown) >= count / 2


def test_each_engine_has_its_colour(folder):
    """That of lab/page/engine_colours.json, which the pictures of the documentation have too."""
    known = json.loads((TOP / "lab" / "page" / "engine_colours.json").read_text())
    page, engines = folder / "engines.html", ["fors", "updn", "minhop"]
    fors("whatif", "--synthetic", "FT(2;2,2)", "--engines", ",".join(engines), "--html", page)
    for seen in look(page):
        wanted = [[int(known[name][0][at:at + 2], 16) for at in (1, 3, 5)] for name in engines]
        assert [[int(number) for number in re.findall(r"\d+", colour)] for colour in seen["engines"]] == wanted


def test_when_it_was_made_stands_below(folder):
    page = folder / "made.html"
    fors("analyze", "--synthetic", "FT(2;2,2)", "--routing", "fors", "--pattern", "shift", "--html", page, env={"SOURCE_DATE_EPOCH": "1795312800"})
    for seen in look(page):
        foot = seen["text"][-300:]
        assert "Input: FT(2;2,2). Made 2026-11-22 02:00 UTC by fors" in foot
        assert f"fors analyze --synthetic 'FT(2;2,2)' --routing fors --pattern shift --html {page}" in foot


def test_it_can_be_printed(folder):
    """Drawn anew for paper: names in the pictures are not shrunk below 7 points."""
    page, paper = folder / "print.html", folder / "print.pdf"
    fors("analyze", "--synthetic", "FT(2;6,5)", "--down", "Leaf00[7]", "--routing", "fors", "--pattern", "linear-shift", "--html", page)
    run_browser(folder, f"--print-to-pdf={paper}", page.as_uri())
    assert paper.read_bytes().startswith(b"%PDF") and paper.stat().st_size > 5000
    if not shutil.which("pdftotext"):
        pytest.skip("pdftotext is missing. On Debian: apt-get install poppler-utils")
    boxes = subprocess.run(["pdftotext", "-bbox", paper, "-"], capture_output=True, text=True, check=True).stdout
    words = re.findall(r'<word xMin="([\d.]+)" yMin="([\d.]+)" xMax="([\d.]+)" yMax="([\d.]+)">(.*?)</word>', boxes)
    assert {"Fullest", "Phases", "Spine05", "Leaf04", "Input:"} <= {word for *_, word in words}
    for left, top, right, bottom, word in words:
        if re.fullmatch(r"(Leaf|Spine)\d\d", word):
            assert min(float(right) - float(left), float(bottom) - float(top)) > 7, word


PICTURE = """<!DOCTYPE html><meta charset="utf-8"><pre id="report"></pre>PICTURE
<script>
const view = document.querySelector("svg").viewBox.baseVal, out = node => {
	const box = node.getBBox();
	return box.x < 0 || box.y < 0 || box.x + box.width > view.width || box.y + box.height > view.height;
};
const crowded = [...document.querySelectorAll("rect.switch")].filter(rect => {
	const text = rect.nextElementSibling.getBBox(), box = rect.getBBox();
	return text.x < box.x || text.x + text.width > box.x + box.width;
});
document.getElementById("report").textContent = JSON.stringify({
	lines: [...document.querySelectorAll("line[class]")].filter(e => e.getTotalLength() > 50).length,
	dead: document.querySelectorAll("line.dead").length, crowded: crowded.length,
	outside: [...document.querySelectorAll("line, text, rect.switch")].filter(out).length});
</script>
"""


@pytest.mark.parametrize("spec, lines", [("FT(2;20,18)", 360), ("XGFT(3;4,4,4;1,3,4)", 96), ("FT(2;1,1)", 1)])
def test_drawn_fabric(tmp_path, spec, lines):
    """fors fabric --format svg: every cable is drawn, names are inside their boxes, all of it inside the picture."""
    picture = fors("fabric", "--synthetic", spec, "--down", "Leaf00", "--format", "svg")
    page = tmp_path / "picture.html"
    page.write_text(PICTURE.replace("PICTURE", picture))
    dom = run_browser(tmp_path, "--virtual-time-budget=10000", "--dump-dom", page.as_uri())
    seen = json.loads(html.unescape(re.search(r'<pre id="report">(.+?)</pre>', dom, re.S)[1]))
    dead = picture.count('<line class="dead"')
    assert seen == {"lines": lines, "dead": dead, "crowded": 0, "outside": 0} and dead > 0


def test_a_drawn_fabric_scales_to_its_window(tmp_path):
    """Down, never up: a picture of 20 spines is 1900 pixels wide by itself."""
    drawn = "".join(f'<div style="width:{width}px">{fors("fabric", "--synthetic", spec, "--format", "svg")}</div>'
                    for spec in ("FT(2;20,18)", "FT(2;2,2)") for width in (400, 1400))
    page = tmp_path / "scaled.html"
    page.write_text(f"""<!DOCTYPE html><meta charset="utf-8"><pre id="report"></pre>{drawn}<script>
        document.getElementById("report").textContent = JSON.stringify([...document.querySelectorAll("svg")].map(svg =>
            [svg.viewBox.baseVal, svg.getBoundingClientRect()].map(box => [box.width, box.height])));</script>""")
    dom = run_browser(tmp_path, "--window-size=1500,900", "--virtual-time-budget=10000", "--dump-dom", page.as_uri())
    found = json.loads(html.unescape(re.search(r'<pre id="report">(.+?)</pre>', dom, re.S)[1]))
    small = found[3][0][0]
    assert [shown[0] for _, shown in found] == [400, 1400, 400, small] and 400 < small < 1400
    for (width, height), (shown, high) in found:
        assert high == pytest.approx(height * shown / width, abs=0.1)


DRAWINGS = """<!DOCTYPE html><meta charset="utf-8"><pre id="report"></pre>PICTURES
<script>
const meet = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 2 && b.top < a.bottom - 2;
const seen = [...document.querySelectorAll("svg")].map(svg => {
	const words = [...svg.querySelectorAll("text")].map(e => [e.textContent, e.getBoundingClientRect()]), view = svg.getBoundingClientRect();
	const out = box => box.left < view.left - 1 || box.right > view.right + 1 || box.top < view.top - 1 || box.bottom > view.bottom + 1;
	return {words: words.length, outside: words.filter(([, box]) => out(box)).map(([text]) => text),
		touching: words.flatMap(([text, box], i) => words.slice(i + 1).filter(([, other]) => meet(box, other)).map(([other]) => text + " | " + other))};
});
document.getElementById("report").textContent = JSON.stringify(seen);
</script>
"""


def test_pictures_of_the_documentation(tmp_path):
    """Words are inside their picture, and no two touch."""
    pictures = sorted([*TOP.glob("doc/*.svg"), *TOP.glob("lab/doc/*.svg")])
    page = tmp_path / "pictures.html"
    page.write_text(DRAWINGS.replace("PICTURES", "".join(f'<div style="width:760px">{path.read_text()}</div>' for path in pictures)))
    dom = run_browser(tmp_path, "--window-size=800,600", "--virtual-time-budget=10000", "--dump-dom", page.as_uri())
    found = json.loads(html.unescape(re.search(r'<pre id="report">(.+?)</pre>', dom, re.S)[1]))
    assert len(found) == len(pictures) > 10
    for path, seen in zip(pictures, found):
        assert seen["words"] > 10 and (seen["outside"], seen["touching"]) == ([], []), path.name
