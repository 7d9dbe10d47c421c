"""Adds up the time of one traced thread by the user's lines and by the callees on them.

A tracer tells it what begins and ends; every instant goes to the innermost line of the user's code on the stack and,
on that line, to the innermost callee that has a stage. The tracer's own time is left out: the clock stops while a
callback runs, and `dispatch_ns` per event (the interpreter's cost of calling us) is taken off what lies between two.
"""

from .. import frames
from . import stages

KEY, LINE, CELL, KIND = range(4)
NS, COUNT, STAGE, NAME = range(4)
MAX_LINES = 4096
SMALLEST_SHARE = 0.001
MOST_ENTRIES = 64

_SUSPENDS = 0x20 | 0x80 | 0x200  # code flags of generators, coroutines and asynchronous generators

# What a code object is to the account.
PLAIN = 0   # belongs to whoever called it
USER = 1    # carries lines
MODEL = 2   # a model's call: lines below it belong to the caller


class Line:
    """One source line of the user: its own time and that of the callees on it."""

    __slots__ = ("file", "number", "own", "callees")

    def __init__(self, file, number):
        self.file = file
        self.number = number
        self.own = [0, 0, stages.USER_CODE, ""]
        self.callees = {}

    def callee(self, stage, name):
        cell = self.callees.get(name)
        if cell is None:
            cell = self.callees[name] = [0, 0, stage, name]
        return cell

    def total_ns(self):
        return self.own[NS] + sum(cell[NS] for cell in self.callees.values())

    def stage(self):
        """The stage that takes most of the line."""
        sums = {stages.USER_CODE: self.own[NS]}
        for cell in self.callees.values():
            sums[cell[STAGE]] = sums.get(cell[STAGE], 0) + cell[NS]
        return max(sums, key=sums.get)


class Ledger:
    """Account of one `where` (loop, dataset, collate function). `stack` and `last` belong to the tracer in charge."""

    def __init__(self, where, dispatch_ns=0):
        self.where = where
        self.dispatch_ns = dispatch_ns
        self.lines = {}      # (file, number) -> Line
        self._of_code = {}   # (code, number) -> the same Lines: a line holds the code of its lambdas too
        self.windows = 0
        self.nowhere = [0, 0, stages.UNSPECIFIED, ""]
        self.stack = []
        self.cell = self.nowhere
        self.last = 0
        self._floor = 0

    # -- time ---------------------------------------------------------------------------------------------------

    def charge(self, now):
        """Gives the time since the last event to the current cell."""
        spent = now - self.last - self.dispatch_ns
        if spent > 0:
            self.cell[NS] += spent

    def add(self, line, stage, name, spent_ns):
        """Gives time that was measured otherwise."""
        cell = line.callee(stage, name)
        cell[NS] += max(spent_ns, 0)
        cell[COUNT] += 1

    # -- the stack ----------------------------------------------------------------------------------------------

    def line(self, code, number):
        key = (code, number)
        line = self._of_code.get(key)
        if line is None:
            if len(self._of_code) >= MAX_LINES:
                self._forget_lines()
            place = (frames.absolute(code.co_filename), number)
            line = self.lines.get(place)
            if line is None:
                line = self.lines[place] = Line(*place)
            self._of_code[key] = line
        return line

    def begin(self, now):
        self.stack.clear()
        self.cell = self.nowhere
        self.last = now

    def enter_user(self, key, code, number):
        """A frame of the user's code begins; `number` None: its first line event is still to come."""
        if number is None:
            line = self.stack[-1][LINE] if self.stack else None
        else:
            line = self.line(code, number)
            self.cell = line.own
        self.stack.append((key, line, self.cell, USER))

    def enter_plain(self, key, kind=PLAIN):
        self.stack.append((key, self.stack[-1][LINE] if self.stack else None, self.cell, self._below(kind)))

    def enter_callee(self, key, stage, name, kind=PLAIN):
        line = self.stack[-1][LINE] if self.stack else None
        if line is not None and stages.refine(self.cell[STAGE], stage):
            self.cell = line.callee(stage, name)
            self.cell[COUNT] += 1
        self.stack.append((key, line, self.cell, self._below(kind)))

    def _below(self, kind):
        return MODEL if self.in_model() else kind

    def in_model(self):
        """True where lines belong to the caller of a model."""
        return bool(self.stack) and self.stack[-1][KIND] == MODEL

    def at_line(self, index, code, number):
        """The frame at stack position `index` moved to another line; whatever lay above it has ended."""
        stack = self.stack
        line = self.line(code, number)
        line.own[COUNT] += 1
        self.cell = line.own
        del stack[index + 1:]
        stack[index] = (stack[index][KEY], line, line.own, USER)

    def leave(self, key):
        """The frame or call `key` ended; anything above it was unwound without a word. Unknown keys are not ours."""
        stack = self.stack
        for index in range(len(stack) - 1, -1, -1):
            if stack[index][KEY] is key:
                del stack[index:]
                self.cell = stack[-1][CELL] if stack else self.nowhere
                return True
        return False

    def find(self, key):
        stack = self.stack
        for index in range(len(stack) - 1, -1, -1):
            if stack[index][KEY] is key:
                return index
        return -1

    def floor(self, frames_below):
        """How many entries of the stack must stay for the loop to be still running: see is_over()."""
        self._floor = 0
        for number, frame in enumerate(frames_below):
            if not frame.f_code.co_flags & _SUSPENDS:
                self._floor = number + 1

    def is_over(self):
        """True once a function has returned from within which next() was called; a generator may come back."""
        return len(self.stack) < self._floor

    # -- results ------------------------------------------------------------------------------------------------

    def window_ns(self):
        """Traced time on lines. What lies around the outermost line (the fetcher, this hook) is not in it."""
        return sum(line.total_ns() for line in self.lines.values())

    def _forget_lines(self):
        """Keeps code made at run time from growing the account for ever; what was not flushed is lost."""
        self.lines = {(entry[LINE].file, entry[LINE].number): entry[LINE] for entry in self.stack if entry[LINE]}
        for line in self.lines.values():
            line.own[NS] = 0
            line.callees.clear()
        self._of_code = {}

    def discard(self):
        """Takes back what was added since the last flush."""
        for line in self.lines.values():
            for cell in [line.own] + list(line.callees.values()):
                cell[NS] = cell[COUNT] = 0
        self.windows = 0

    def flush(self, write):
        """write(stage, file, line, name, count, windows, wall_ns, window_ns) for what took time; starts from zero."""
        window_ns = self.window_ns()
        if window_ns <= 0 or self.windows == 0:
            return False
        rows = []
        for line in self.lines.values():
            total = line.total_ns()
            if total < SMALLEST_SHARE * window_ns:
                continue
            rows.append((total, line.stage(), line.file, line.number, "", line.own[COUNT]))
            for cell in line.callees.values():
                if cell[NS] >= SMALLEST_SHARE * window_ns:
                    rows.append((cell[NS], cell[STAGE], line.file, line.number, cell[NAME], cell[COUNT]))
        rows.sort(key=lambda row: -row[0])
        windows = self.windows
        self.discard()
        for wall_ns, stage, file, number, name, count in rows[:MOST_ENTRIES]:
            write(stage, file, number, name, count, windows, wall_ns, window_ns)
        return True
