#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws the pictures of the README into this folder.

    docs/draw.py [-n] ORIOPT

flow.svg     frontends, oriopt, ptxas, and the programs beside them
figures.svg  bars of figures.tsv
slots.svg    the 159 slots by state, from `ORIOPT --list-phases=json`

-n writes nothing, and exits with status 1 if a picture would change.
"""
import json
import pathlib
import subprocess
import sys
from xml.sax.saxutils import escape

HERE = pathlib.Path(__file__).resolve().parent
INK, FAINT, PAPER = "#24292f", "#6e7781", "#ffffff"
COLORS = {"before": "#9aa4af", "after": "#1f6feb", "reference": "#57606a"}
STATES = [
    ("implemented", "implemented", "#1f6feb"),
    ("off", "off", "#54aeff"),
    ("hook", "backend hook", "#8250df"),
    ("machine", "machine level, left to ptxas", "#9aa4af"),
    ("graphics", "graphics", "#bc4c00"),
    ("bookkeeping", "bookkeeping", "#bf8700"),
    ("not-yet", "not yet", "#eaeef2"),
]


class Picture:
    """An SVG of fixed size on a light ground, so that it reads in dark themes too."""

    def __init__(self, width, height, title):
        self.head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" role="img" font-family="Helvetica, Arial, sans-serif">'
        )
        self.parts = [
            f"<title>{escape(title)}</title>",
            f'<rect width="{width}" height="{height}" rx="8" fill="{PAPER}" stroke="#d0d7de"/>',
        ]

    def text(self, x, y, text, size=13, color=INK, anchor="start", bold=False):
        weight = ' font-weight="bold"' if bold else ""
        self.parts.append(
            f'<text x="{x}" y="{y}" font-size="{size}" fill="{color}" text-anchor="{anchor}"{weight}>'
            f"{escape(text)}</text>"
        )

    def rect(self, x, y, w, h, fill, stroke="none", radius=3, hint=None):
        title = f"<title>{escape(hint)}</title>" if hint else ""
        self.parts.append(
            f'<rect x="{x}" y="{y}" width="{w}" height="{h}" rx="{radius}" fill="{fill}" stroke="{stroke}">{title}</rect>'
        )

    def box(self, x, y, w, h, lines, fill="#f6f8fa", stroke="#57606a", color=INK):
        self.rect(x, y, w, h, fill, stroke, 6)
        top = y + h / 2 - (len(lines) - 1) * 8.5 + 4.5
        for k, line in enumerate(lines):
            self.text(x + w / 2, top + 17 * k, line, 14 if k == 0 else 12, color, "middle", k == 0)

    def arrow(self, x1, y1, x2, y2):
        self.parts.append(
            f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{INK}" stroke-width="1.4" marker-end="url(#tip)"/>'
        )

    def svg(self):
        tip = (
            '<defs><marker id="tip" markerWidth="9" markerHeight="8" refX="8" refY="4" orient="auto">'
            f'<path d="M0,0 L9,4 L0,8 z" fill="{INK}"/></marker></defs>'
        )
        return "\n".join([self.head, tip, *self.parts, "</svg>", ""])


def flow():
    p = Picture(820, 268, "PTX from a frontend goes through oriopt to ptxas; orirun and oricheck test it without a GPU")
    for k, name in enumerate(["nvcc", "clang", "Triton", "NVRTC", "your DSL"]):
        p.box(20, 18 + 32 * k, 96, 26, [name])
        p.arrow(116, 31 + 32 * k, 191, 66 + 16 * k)
    p.text(158, 42, "PTX", 12, FAINT, "middle")
    p.rect(194, 26, 420, 144, "#ddf4ff", "#1f6feb", 8)
    p.text(404, 46, "oriopt", 15, INK, "middle", True)
    p.box(208, 60, 84, 62, ["reader"], PAPER)
    p.box(322, 60, 164, 62, ["159 phases", "over Ori IR, by name"], "#1f6feb", "#1f6feb", PAPER)
    p.box(516, 60, 84, 62, ["writer"], PAPER)
    p.arrow(292, 91, 319, 91)
    p.arrow(486, 91, 513, 91)
    p.text(404, 146, "any phase alone, before and after as Ori text, knobs, remarks", 12, FAINT, "middle")
    p.arrow(614, 91, 690, 91)
    p.text(652, 82, "PTX", 12, FAINT, "middle")
    p.box(694, 66, 108, 50, ["ptxas", "or the driver"])
    p.box(194, 208, 196, 44, ["orirun", "runs kernels on the CPU"])
    p.box(418, 208, 196, 44, ["--check-each, oricheck", "compare before and after"])
    p.arrow(292, 170, 292, 204)
    p.arrow(516, 170, 516, 204)
    p.arrow(390, 230, 415, 230)
    return p.svg()


def read_figures():
    groups = {}
    for line in (HERE / "figures.tsv").read_text().splitlines():
        if line and not line.startswith("#"):
            group, row, value, role = line.split("\t")
            groups.setdefault(group, []).append((row, float(value), role))
    return groups


def figures():
    groups = read_figures()
    scale = 420 / max(value for rows in groups.values() for _, value, _ in rows)
    height = 18 + sum(40 + 26 * len(rows) for rows in groups.values())
    p = Picture(820, height, "SASS instructions before and after oriopt; shorter is better")
    y = 18
    for group, rows in groups.items():
        p.text(20, y + 14, group, 14, INK, bold=True)
        p.text(800, y + 14, "shorter is better", 12, FAINT, "end")
        y += 26
        for row, value, role in rows:
            p.text(250, y + 15, row, 13, INK, "end")
            p.rect(262, y + 2, round(value * scale, 1), 18, COLORS[role])
            p.text(270 + round(value * scale, 1), y + 16, f"{value:.2f}", 13)
            y += 26
        y += 14
    return p.svg()


def slots(oriopt):
    phases = json.loads(subprocess.run([oriopt, "--list-phases=json"], check=True, capture_output=True).stdout)["phases"]
    phases = [p for p in phases if p["index"] < 159]
    state_of = {p["index"]: p["status"] for p in phases}
    p = Picture(820, 150, "The 159 slots of the pipeline by state")
    p.text(39, 28, "The 159 slots", 14, INK, bold=True)
    fills = {state: color for state, _, color in STATES}
    for phase in phases:
        column, row = phase["index"] % 53, phase["index"] // 53
        p.rect(39 + 14 * column, 40 + 22 * row, 12, 19, fills[state_of[phase["index"]]], "#8c959f", 2,
               f'{phase["index"]} {phase["name"]}: {phase["status"]}')
    x = 39
    for state, label, color in STATES:
        count = sum(s == state for s in state_of.values())
        if not count:
            continue
        text = f"{label}: {count}"
        p.rect(x, 120, 13, 13, color, "#8c959f", 2)
        p.text(x + 19, 131, text, 12)
        x += 38 + 6 * len(text)
    return p.svg()


def main():
    arguments = sys.argv[1:]
    dry = arguments[:1] == ["-n"]
    arguments = arguments[dry:]
    if len(arguments) != 1:
        sys.exit(f"usage: {sys.argv[0]} [-n] ORIOPT")
    changed = False
    for name, text in {"flow": flow(), "figures": figures(), "slots": slots(arguments[0])}.items():
        path = HERE / f"{name}.svg"
        if dry and (not path.exists() or path.read_text() != text):
            print(f"{path.name} would change", file=sys.stderr)
            changed = True
        elif not dry:
            path.write_text(text)
    sys.exit(changed)


if __name__ == "__main__":
    main()
