# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Plots of cost against the number of events and ids, as SVG."""
import math

WIDTH, HEIGHT = 640, 400
LEFT, RIGHT, TOP, BOTTOM = 80, 20, 50, 60
COLOURS = {"stock": "#c0392b", "ours": "#1f618d"}
DASHES = ["", "7 4", "2 3", "10 3 2 3"]

PLOTS = [
    ("benchmarks-events.svg", "Beside pending events of other ids",
     "pending events of other ids", "beside_events", ["migrate", "destroy"]),
    ("benchmarks-ids.svg", "Beside other ids on the channel",
     "ids on the channel", "beside_ids",
     ["create", "look_up", "migrate", "destroy"]),
    ("benchmarks-channels.svg", "Beside channels with 100 ids each",
     "ids in all", "on_channels_of_100",
     ["create", "look_up", "migrate", "destroy"]),
]


def points(results, who, operation, where):
    """(how many, cost), by how many; none of nothing, for its logarithm."""
    prefix = f"{operation}.{where}@"
    found = [(int(name[len(prefix):]), row.median)
             for name, row in results.rows[who].items()
             if name.startswith(prefix)]
    return sorted(point for point in found if point[0])


class Axis:
    """A logarithmic scale."""

    def __init__(self, values, start, end):
        self.low = math.floor(math.log10(min(values)))
        self.high = max(math.ceil(math.log10(max(values))), self.low + 1)
        self.start, self.end = start, end

    def at(self, value):
        part = (math.log10(value) - self.low) / (self.high - self.low)
        return self.start + part * (self.end - self.start)

    def ticks(self):
        return [10 ** power for power in range(self.low, self.high + 1)]


def text(x, y, words, anchor="middle", more=""):
    return (f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" '
            f'{more}>{words}</text>')


def grid(x_axis, y_axis):
    for value in x_axis.ticks():
        x = x_axis.at(value)
        yield f'<path d="M{x:.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#ddd"/>'
        yield text(x, HEIGHT - BOTTOM + 18, f"{value:,}")
    for value in y_axis.ticks():
        y = y_axis.at(value)
        yield f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>'
        yield text(LEFT - 8, y + 4, f"{value:,}", "end")


def curve(curve_points, x_axis, y_axis, colour, dash):
    places = [(x_axis.at(x), y_axis.at(y)) for x, y in curve_points]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    yield (f'<polyline points="{path}" fill="none" stroke="{colour}" '
           f'stroke-width="2" stroke-dasharray="{dash}"/>')
    for x, y in places:
        yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>'


def legend(number, label, colour, dash):
    x, y = LEFT + (number % 4) * 135, 30 + (number // 4) * 14
    yield (f'<path d="M{x} {y}h24" stroke="{colour}" stroke-width="2" '
           f'stroke-dasharray="{dash}"/>')
    yield text(x + 30, y + 4, label, "start")


def plot(title, label, curves):
    every = [point for _, _, _, found in curves for point in found]
    x_axis = Axis([x for x, _ in every], LEFT, WIDTH - RIGHT)
    y_axis = Axis([y for _, y in every], HEIGHT - BOTTOM, TOP)
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" '
           f'height="{HEIGHT}" font-family="sans-serif" font-size="11">')
    yield "<!-- SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause -->"
    yield f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>'
    yield text(WIDTH / 2, 16, title, more='font-weight="bold"')
    yield from grid(x_axis, y_axis)
    for number, (who, operation, dash, found) in enumerate(curves):
        yield from curve(found, x_axis, y_axis, COLOURS[who], dash)
        yield from legend(number, f"{who}: {operation.replace('_', ' ')}",
                          COLOURS[who], dash)
    yield text(WIDTH / 2, HEIGHT - 20, label)
    yield text(16, HEIGHT / 2, "instructions",
               more=f'transform="rotate(-90 16 {HEIGHT // 2})"')
    yield "</svg>"


def plots(results):
    """Names of files, titles and what goes into them, of what was counted."""
    for name, title, label, where, operations in PLOTS:
        curves = [(who, operation, dash, found)
                  for who in COLOURS
                  for operation, dash in zip(operations, DASHES)
                  if (found := points(results, who, operation, where))]
        if curves:
            yield name, title, "\n".join(plot(title, label, curves)) + "\n"
