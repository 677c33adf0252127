"""Drawings of the design page, as SVG within the page, so that they have the theme's colours: the layers, from the rules that
tests/layers holds the sources to; the life of a case; and how blame is decided."""
import html
import re

RULES, ROOMS = "tests/layers/include_rules.cc", "tests/layers/room_rules.cc"
OUTCOMES = "harness/model/record/outcome.cc"
SOURCES = (RULES, ROOMS, OUTCOMES)  # what they are drawn from
WIDE = 900


class Failure(Exception):
    """The sources are not as they are read here."""


def lines_of(text, x, y):
    return "".join(f'<text x="{x}" y="{y + at * 17:g}" class="{"head" if at == 0 else "small"}">{html.escape(line)}</text>'
                   for at, line in enumerate(text))


def box(x, y, wide, high, *text, kind=""):
    """A box with a heading and lines below it, centred at x."""
    top = y + high / 2 - (len(text) - 1) * 8.5 + 4.5
    return f'<rect x="{x - wide / 2:g}" y="{y:g}" width="{wide:g}" height="{high:g}" rx="6" class="box {kind}"/>' + lines_of(text, f"{x:g}", top)


def arrow(*points, word="", kind=""):
    """A line through the points, with an arrow at its end and a word at the middle of its first part."""
    path = " ".join(f"{'L' if at else 'M'}{x:g} {y:g}" for at, (x, y) in enumerate(points))
    (ax, ay), (bx, by) = points[:2]
    said = f'<text x="{(ax + bx) / 2:g}" y="{(ay + by) / 2 - 5:g}" class="word">{html.escape(word)}</text>' if word else ""
    return f'<path d="{path}" class="line {kind}" marker-end="url(#cci-arrow)"/>{said}'


def picture(high, title, *parts):
    marker = ('<defs><marker id="cci-arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
              '<path d="M0 0L8 4L0 8z" class="tip"/></marker></defs>')
    return (f'<div class="cci-drawing" tabindex="0"><svg viewBox="0 0 {WIDE} {high}" role="img" aria-label="{html.escape(title)}">{marker}{"".join(parts)}</svg></div>')


# ---- the layers ----

def layers(root):
    """{layer: the layers it may include}, as tests/layers has them."""
    text = (root / RULES).read_text(encoding="utf-8")
    table = re.search(r"kAllowed = \{\n(.*?)\n  \};", text, flags=re.DOTALL)
    found = {name: re.findall(r'"(\w+)"', rest) for name, rest in re.findall(r'\{"(\w+)", \{(.*?)\}\},', table[1])} if table else {}
    if len(found) < 10:
        raise Failure(f"{RULES}: the table of layers is not found")
    return found


def rooms(root):
    """{layer: its rooms}; each room includes only those before it."""
    text = (root / ROOMS).read_text(encoding="utf-8")
    found = {}
    for layer, room in re.findall(r'^ +\{"(\w+)/(\w+)", \{', text, flags=re.MULTILINE):
        found.setdefault(layer, []).append(room)
    return found


def reduced(allowed):
    """The arrows that do not follow from others: [(from, to)]."""
    def reach(name, without=None):
        return {name}.union(*(reach(to) for to in allowed[name] if to != without))
    return [(name, to) for name, below in allowed.items() for to in below
            if not any(to in reach(other) for other in below if other != to)]


# The place of each layer: its column, of WIDE, and its floor.
PLACES = {"main": (450, 6), "cli": (450, 5), "embed": (85, 4), "launch": (255, 4), "review": (425, 4), "exec": (605, 4), "worker": (800, 4),
          "report": (340, 3), "wire": (605, 3), "model": (450, 2), "image": (450, 1), "base": (450, 0), "plugins": (740, 2), "sdk": (800, 0),
          "plant": (85, 0)}
SAYS = {"main": "the table of contents", "cli": "options, commands", "embed": "the single file", "launch": "a container from outside",
        "review": "work on ended runs", "worker": "the second executable", "wire": "typed messages", "base": "files, text, time, hashes",
        "plugins": "the checks", "sdk": "the contract of plugins", "plant": "plants faults"}
FLOOR, TALL, BROAD = 100, 62, 150


def house(root):
    allowed, inner = layers(root), rooms(root)
    if set(allowed) != set(PLACES):
        raise Failure(f"drawings.py: PLACES lacks or has too much of {sorted(set(allowed) ^ set(PLACES))}")
    top = {name: 10 + (6 - floor) * FLOOR for name, (_, floor) in PLACES.items()}
    parts = []
    for name, to in reduced(allowed):
        (x, _), (below, _) = PLACES[name], PLACES[to]
        if (name, to) == ("worker", "sdk"):  # beside the plugins
            x = below = 845
        side = max(-55, min(55, (below - x) / 6))
        parts.append(arrow((x + side, top[name] + TALL), (below - side * (x != below), top[to] - 2)))
    for name, (x, _) in PLACES.items():
        within = inner.get(name, [])
        first = (len(within) + 1) // 2 if len(within) > 3 else len(within)
        said = [", ".join(within[:first]), ", ".join(within[first:])] if within else [SAYS.get(name, "")]
        parts.append(box(x, top[name], BROAD + 60 * (len(within) > 4), TALL, name, *(line for line in said if line), kind="rooms" if within else ""))
    return picture(10 + 6 * FLOOR + TALL + 10, "the layers: each includes those that its arrows lead to, and what those include", *parts)


# ---- the life of a case ----

def outcomes(root):
    """The names of outcomes as reports have them."""
    table = re.search(r"kOutcomes\[\] = \{(.*?)\};", (root / OUTCOMES).read_text(encoding="utf-8"), flags=re.DOTALL)
    return re.findall(r'"(\w+)"', table[1]) if table else []


def life(root):
    names = outcomes(root)
    parts = [box(100, 12, 160, 56, "matrix entry", "check, parameters, axes"), arrow((180, 40), (218, 40)), box(300, 12, 160, 56, "plan", "a case for each value"),
             arrow((380, 40), (418, 40)), box(500, 12, 160, 56, "scheduler", "prerequisites, devices"), arrow((580, 40), (618, 40)),
             box(700, 12, 160, 56, "attempt", "in a worker process"), arrow((700, 68), (700, 100)), box(700, 102, 160, 56, "messages", "expectations, findings"),
             arrow((780, 130), (850, 130), (850, 40), (784, 40)), '<text x="818" y="90" class="word">again</text>',
             arrow((270, 68), (270, 96), (85, 96), (85, 216)), arrow((470, 68), (470, 130), (231, 130), (231, 216)),
             '<path d="M700 158L700 188M377 188L815 188" class="line"/>']
    for at, (name, says, kind) in enumerate((("not_run", "never finished", "wait"), ("blocked", "by a prerequisite", "wait"), ("skipped", "not for this stack", "wait"),
                                             ("errored", "crash, time, memory", "bad"), ("failed", "one did not hold", "bad"), ("passed", "all held", "good"))):
        if name not in names:
            raise Failure(f"{OUTCOMES} has no outcome {name}")
        x = 85 + 146 * at
        parts += [arrow((x, 188), (x, 216)) if at > 1 else "", box(x, 218, 136, 50, name.replace("_", " "), says, kind=kind), arrow((x, 268), (x, 302))]
    parts.append(box(450, 304, 866, 50, "fold, then Judge: verdict, blame, root cause, exit code", "each case has one outcome; a blocked one names the case that it waits for in the end"))
    return picture(366, "the life of a case: from an entry of the matrix to one of six outcomes, and to the verdict", *parts)


# ---- blame ----

def blame(_):
    ends = [("image", 1), ("runner", 3), ("matrix", 4), ("harness", 5), ("undetermined", 6)]
    place = {name: 90 + 180 * at for at, (name, _) in enumerate(ends)}
    parts = [box(450, 12, 250, 44, "a case did not pass"), arrow((450, 56), (450, 84)),
             box(450, 86, 330, 52, "did the check report a finding?", "else the outcome stands for one: crashed, timed-out, ..."),
             arrow((285, 112), (190, 112), (190, 174), word="yes"), box(190, 176, 250, 52, "its declaration has the blame", "knowledge/findings"),
             arrow((615, 112), (700, 112), (700, 174), word="no"), box(700, 176, 300, 52, "whose code, whose limit was it?", "the site of a crash, what ran out"),
             arrow((190, 228), (190, 266)), arrow((700, 228), (700, 266)),
             box(450, 268, 800, 52, "in the driver's layer what is the image's fault is the runner's", "where another GPU or another run contradicts it, those findings decide")]
    for name, code in ends:
        parts.append(arrow((place[name], 320), (place[name], 356)))
        parts.append(box(place[name], 358, 150, 50, name, f"exit {code}", kind="bad" if code == 1 else "wait"))
    parts.append('<text x="450" y="440" class="small">If several apply, the precedence is 1, 5, 3, 6, 4. The root cause is the first finding of the class that decided, in the order of layers and of the plan.</text>')
    return picture(452, "how blame is decided: by the finding's declaration, or by whose code or limit it was", *parts)


# By the beginning of the heading below which each stands.
OF_DESIGN = {"## 2. ": life, "## 3. ": house, "## 4. ": blame}


def with_drawings(root, text):
    """The design page with its drawings."""
    for start, draw in OF_DESIGN.items():
        heading = re.search(rf"^{re.escape(start)}.*\n", text, flags=re.MULTILINE)
        if not heading:
            raise Failure(f"harness/DESIGN.md has no heading that begins with {start!r}")
        text = text[:heading.end()] + f"\n{draw(root)}\n" + text[heading.end():]
    return text
