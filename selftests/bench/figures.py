# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""The benchmark's figures, what their rows mean, and what is to be reached."""
import dataclasses
import os


def number(value, name=""):
    """A value of the row called so."""
    if value is None:
        return "-"
    if name.startswith("two."):
        return f"{value:.2f}"
    if value >= 100 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def spread(row, name):
    """The median, and between which two values half of the samples were."""
    if row is None:
        return "-"
    median, low, high = (number(value, name)
                         for value in (row.median, row.low, row.high))
    return median if low == high else f"{median} ({low} to {high})"


@dataclasses.dataclass
class Row:
    median: float
    low: float = 0
    high: float = 0


def by_group(lines):
    """What precedes all groups, and the lines of each group."""
    before, groups, group = [], {}, None
    for text in lines:
        words = text.rstrip("\n").split("\t")
        if words[0] == "begin":
            group = groups.setdefault(words[1], [])
        if group is not None:
            group.append(text)
        elif words[0] == "about":
            before.append(text)
        if words[0] == "end":
            group = None
    return before, groups


def keep(path, lines):
    """Keep what was counted, and of other groups what was counted before."""
    before, groups = by_group(lines)
    try:
        with open(path, encoding="utf-8") as file:
            was_before, was = by_group(file)
    except FileNotFoundError:
        was_before, was = before, {}
    # With another kernel or compiler they would be figures of something else.
    if was_before == before:
        groups = was | groups
    with open(f"{path}.new", "w", encoding="utf-8") as file:
        file.writelines([*before, *sum(groups.values(), []), "complete\n"])
    os.replace(f"{path}.new", path)


class Results:
    """What was counted."""

    def __init__(self):
        self.about = {}
        self.rows = {"stock": {}, "ours": {}}
        self.complete = False
        self.seen = []

    @classmethod
    def load(cls, paths):
        results = cls()
        for path in paths:
            with open(path, encoding="utf-8") as file:
                for text in file:
                    results.add(text.rstrip("\n").split("\t"))
        return results

    def add(self, words):
        if words[0] == "about":
            # The figures are the first file's; locks are watched in a debug kernel.
            self.about.setdefault(words[1], words[2])
        elif words[0] in self.rows:
            self.rows[words[0]][words[1]] = Row(*map(float, words[2:5]))
            if words[1] not in self.seen:
                self.seen.append(words[1])
        elif words[0] == "begin":
            self.seen = []
        elif words[0] == "complete":
            self.complete = True

    def since_begin(self):
        return self.seen

    def get(self, who, name):
        return self.rows[who].get(name)

    def median(self, who, name):
        row = self.get(who, name)
        return row.median if row else None

    def ratio(self, name):
        """Ours by stock's, where there is something to divide by."""
        stock, ours = self.median("stock", name), self.median("ours", name)
        return f"{ours / stock:.2f}" if stock and ours is not None else "-"


class Aim:
    """What a row of ours may be at most, or must be at least."""

    def __init__(self, name, kind, words):
        self.name = name
        self.least = kind == "least"
        # What is wanted and not reached yet is shown, and no test.
        self.is_test = kind != "goal"
        self.factor = float(words[0])
        self.who, self.base = words[1:3] if len(words) > 1 else (None, None)
        self.more = float(words[4]) if len(words) > 3 else 0
        self.relation = "at least" if self.least else "at most"
        self.words = self.relation + " " + " ".join(words)

    def limit(self, results):
        if not self.who:
            return self.factor
        base = results.median(self.who, self.base)
        return None if base is None else self.factor * base + self.more

    def judge(self, results):
        """Whether it is reached, and how that is said."""
        limit, value = self.limit(results), results.median("ours", self.name)
        if limit is None or value is None:
            return False, "nothing to compare"
        good = value >= limit if self.least else value <= limit
        return good, (f"{number(value, self.name)}, {self.relation} "
                      f"{number(limit, self.name)}")


class Rows:
    """The file "rows"."""

    def __init__(self, path):
        self.names, self.texts, self.aims = [], {}, {}
        with open(path, encoding="utf-8") as file:
            for text in file:
                words = text.split()
                if not words or words[0].startswith("#"):
                    continue
                if words[0] == "row":
                    self.names.append(words[1])
                    self.texts[words[1]] = " ".join(words[2:])
                elif words[0] in ("aim", "goal", "least"):
                    self.aims.setdefault(words[1], []).append(
                        Aim(words[1], words[0], words[2:]))
                else:
                    raise ValueError(text)

    def text(self, name):
        return self.texts.get(name, "")

    def verdicts(self, name, results):
        said = []
        for aim in self.aims.get(name, []):
            good, _ = aim.judge(results)
            limit = number(aim.limit(results), name)
            said.append(f"{limit} {'reached' if good else 'MISSED'}")
        return ", ".join(said)
