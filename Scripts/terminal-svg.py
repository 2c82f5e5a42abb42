#!/usr/bin/env python3
"""Draw the output of a program as a terminal, in an SVG file.

    program | Scripts/terminal-svg.py --command 'make quickstart' [--omit REGEX] >picture.svg

The lines appear one after the other, and then the picture does not change any more. The picture uses the light or dark
setting of the reader's system, and has no animation if the system asks for reduced motion. It needs no fonts, scripts
or network. Durations, rates and amounts of memory differ from run to run. They are omitted, so that runs with the same
results produce the same picture.
"""
import argparse
import re
import sys
from xml.sax.saxutils import escape

CHARACTER, LINE, MARGIN, BAR = 7.8, 19, 18, 34
SECONDS_PER_LINE = 0.12
# A duration or rate at the end of a line, or a line that contains only measurements.
MEASURED = re.compile(r"(?:,?\s+\d[\d,.]* (?:ms|a second)|^\s*in \d[\d.]* s, \d+ MB peak memory)$")

ELLIPSIS = "  …"

# The style sheet contains no CSS variables, because many SVG programs other than browsers do not support them.
STYLE = """
text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; white-space: pre }
.window { fill: #ffffff; stroke: #d0d7de }
.bar { fill: #eaeef2 }
.line { fill: #1f2328; animation: appear 0.01s both }
.title { fill: #656d76 }
.head { fill: #0a5fb4; font-weight: 600 }
@keyframes appear { from { opacity: 0 } to { opacity: 1 } }
@media (prefers-color-scheme: dark) {
  .window { fill: #0d1117; stroke: #30363d }
  .bar { fill: #161b22 }
  .line { fill: #e6edf3 }
  .title { fill: #8d96a0 }
  .head { fill: #79b8ff }
}
@media (prefers-reduced-motion: reduce) { .line { animation: none } }
"""


def shown(line):
    """Return the text that a terminal shows for a line with carriage returns, without measurements at its end."""
    return MEASURED.sub("", line.split("\r")[-1]).rstrip()


def lines_of(text, omitted):
    """Return the lines of the output, without lines that contain only measurements, and without repeated empty lines.

    Consecutive lines that match the pattern `omitted` become one line with an ellipsis.
    """
    lines = []
    for line in text.rstrip("\n").split("\n"):
        kept = shown(line)
        if omitted and re.search(omitted, line):
            kept = ELLIPSIS
            if lines and lines[-1] == ELLIPSIS:
                continue
        if kept or (not line.strip() and lines and lines[-1]):
            lines.append(kept)
    return lines


def draw(command, lines):
    columns = max(len(line) for line in lines + [f"$ {command}"])
    width = round(columns * CHARACTER + 2 * MARGIN)
    height = BAR + LINE * (len(lines) + 1) + 2 * MARGIN - 6
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'role="img" aria-label="The output of {escape(command)}">',
        f"<style>{STYLE}</style>",
        f'<rect x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="8" class="window"/>',
        f'<path d="M1 {BAR}V9a8 8 0 0 1 8-8H{width - 9}a8 8 0 0 1 8 8V{BAR}z" class="bar"/>',
    ]
    for index, color in enumerate(["#ff5f57", "#febc2e", "#28c840"]):
        parts.append(f'<circle cx="{20 + 20 * index}" cy="{BAR / 2:g}" r="6" fill="{color}"/>')
    parts.append(f'<text class="title" x="{width // 2}" y="{BAR / 2 + 4:g}" text-anchor="middle">{escape(command)}</text>')
    for index, line in enumerate([f"$ {command}", *lines]):
        if not line:
            continue
        # A line that is not indented is the heading of a part of the output.
        kind = "line head" if not line.startswith(" ") else "line"
        x, y = MARGIN, BAR + MARGIN + 10 + LINE * index
        delay = f"{index * SECONDS_PER_LINE:.2f}".rstrip("0").rstrip(".")
        parts.append(
            f'<text class="{kind}" x="{x}" y="{y}" style="animation-delay:{delay}s" xml:space="preserve">'
            f"{escape(line)}</text>")
    parts.append("</svg>")
    return "\n".join(parts) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--command", required=True, help="the command, for the title and the prompt")
    parser.add_argument("--omit", help="a regular expression: matching lines are replaced by an ellipsis")
    arguments = parser.parse_args()
    lines = lines_of(sys.stdin.read(), arguments.omit)
    if not lines:
        sys.exit("error: there is no output to draw")
    sys.stdout.write(draw(arguments.command, lines))


if __name__ == "__main__":
    main()
