"""Decides which iterations, samples and collate calls of a process are traced, and hands on what the tracer found."""

from threading import get_ident

from .. import frames
from . import calibrate, codes, roots, stages
from .budget import Budget
from ..loading.datapaths import DataPaths
from .ledger import Ledger

FLUSH_NS = 500_000_000
HEAVY_SHARE = 0.005        # an iteration in which tracing took more than this is no measure of the step
LOOP_LIMIT_NS = 50_000_000
SAMPLE_LIMIT_NS = 20_000_000
LOOP_GRACE_NS = 200_000_000
# The whole hook may take 20 us per step, 5 us per sample in the training thread and 2 % in workers; the lines get:
LOOP_SHARE, LOOP_CAP_NS = 0.001, 4_000
OWN_SAMPLE_SHARE, OWN_SAMPLE_CAP_NS = 0.01, 1_000
WORKER_SHARE, WORKER_CAP_NS = 0.01, 10_000_000
# What the first windows may cost above that, once per process: a verdict has to have lines after 20 iterations.
OPENING_NS = {stages.LOOP: 4_000_000, stages.DATASET: 30_000_000, stages.COLLATE_FN: 4_000_000}
FIRST_WINDOWS = 2
LONGEST_REST = 1000        # calls
MOST_FORGIVEN = 3
BLOCKING_READ = 3          # wire::IntervalKind


class Watcher:
    """Windows over iterations, samples and collate calls of one process. Follows one thread of each kind."""

    def __init__(self, emit, tracer, clock, worker, wake=None):
        self._wake = wake or (lambda: None)
        self.emit = emit
        self.tracer = tracer
        self.why_not = ""
        self._clock = clock
        self._worker = worker
        self._calibrated = tracer.skip_ns > 0  # in a process that was forked the parent's figures hold
        self.forget()

    def forget(self):
        """Starts from nothing: at first, and in a forked child."""
        self.tracer.forget()
        share, cap_ns = (WORKER_SHARE, WORKER_CAP_NS) if self._worker else (OWN_SAMPLE_SHARE, OWN_SAMPLE_CAP_NS)
        burst = 16 if self._worker else 8
        self.ledgers = {where: Ledger(where) for where in (stages.LOOP, stages.DATASET, stages.COLLATE_FN)}
        self.budgets = {
            stages.LOOP: Budget(LOOP_SHARE, LOOP_CAP_NS, 2, 3, LOOP_LIMIT_NS, OPENING_NS[stages.LOOP]),
            stages.DATASET: Budget(share, cap_ns, burst, 4, SAMPLE_LIMIT_NS, OPENING_NS[stages.DATASET]),
            stages.COLLATE_FN: Budget(share, cap_ns, 2, 2, SAMPLE_LIMIT_NS, OPENING_NS[stages.COLLATE_FN]),
        }
        self._flushed = self._clock()
        self._emitted = set()
        self._loader = 0
        self._due = False
        self._news = False         # something was traced since the last flush
        self._loop_thread = 0
        self._next_depth = 0
        self._iteration = 0        # when the present iteration began
        self._iteration_cost = 0
        self._last_wall = 0
        self._want_loop = False
        self._wait_begin = 0
        self._wait_cost = 0
        self._waited_ns = 0
        self._wait_line = None
        self._loop_code = None
        self._in_loop = False      # the loop body is being traced
        self._finished = False
        self._call_thread = 0
        self._call = None          # where of the dataset or collate call in progress
        self._call_depth = 0
        self._call_begin = 0
        self._call_traced = False
        self._prepared = set()
        self._forgiven = 0
        self.tracer.paths = DataPaths(self.emit.data_path)

    # -- the loop -----------------------------------------------------------------------------------------------

    def next_begin(self, frame, since_ns=0, skipped=0):
        thread = get_ident()
        if self._loop_thread == 0:
            self._loop_thread = thread
        if thread != self._loop_thread:
            return False
        self._next_depth += 1
        if self._next_depth > 1:
            return False
        budget = self.budgets[stages.LOOP]
        if skipped and self._iteration:
            budget.pass_over(skipped)
            budget.end_unit(since_ns - self._iteration, 0, skipped)
            self._iteration = since_ns
        traced = self._end_iteration(frame)
        now = self._clock()
        self._iteration = self._wait_begin = now
        self._iteration_cost = self._wait_cost = 0
        self._finished = False
        self._want_loop = budget.next_unit() and self._free(budget)
        if not self._want_loop:
            self.tracer.release(stages.LOOP)
        return traced

    def next_rest(self):
        own = get_ident() == self._loop_thread and self._next_depth == 1
        return self.budgets[stages.LOOP].resting() if own and not self._want_loop else 0

    def next_end(self, frame):
        if get_ident() != self._loop_thread or self._next_depth == 0:
            return
        self._next_depth -= 1
        if self._next_depth or not self._want_loop or self._finished:
            return
        ledger = self.ledgers[stages.LOOP]
        frame = frames.asking(frame)
        chain = codes.carriers(frame)
        self._wait_line = None
        if chain:
            self._waited_ns = self._clock() - self._wait_begin - self._wait_cost
            self._wait_line = ledger.line(chain[-1].f_code, chain[-1].f_lineno)
            if frame is not chain[-1] and frame.f_code not in self._prepared:
                self._prepared.add(frame.f_code)
                self.tracer.prepare(ledger, roots.loop_methods(frame))
        self._in_loop = True
        self._loop_code = frame.f_code
        self.tracer.begin(ledger, chain, LOOP_LIMIT_NS, 5 * self._last_wall + LOOP_GRACE_NS)

    def _end_iteration(self, frame):
        if self._iteration == 0:
            return False
        heavy = False
        cost = 0
        if self._in_loop:
            self._in_loop = False
            cost = self.tracer.end()
            heavy = self.tracer.heavy
            ledger = self.ledgers[stages.LOOP]
            if self.tracer.expired or frames.asking(frame).f_code is not self._loop_code:
                # left by an exception or a break: what was traced is no iteration
                ledger.discard()
                self.budgets[stages.LOOP].stop_burst()
            else:
                ledger.windows += 1
                self._news = True
                if self._wait_line is not None:
                    ledger.add(self._wait_line, stages.WAIT, "next", self._waited_ns)
                for begin, end, name, file, line in self.tracer.blocking:
                    self.emit.interval(BLOCKING_READ, begin, end, name, file, line)
                self._emit(stages.LOOP, self._due)
                self._due = False
        wall = self._clock() - self._iteration
        self.budgets[stages.LOOP].end_unit(wall, cost)
        self._last_wall = wall
        return heavy or cost + self._iteration_cost > HEAVY_SHARE * wall

    def _drop_iteration(self):
        """The iterator has ended: what follows is no iteration."""
        self._finished = True
        if self._in_loop:
            self._in_loop = False
            cost = self.tracer.end()
            self.budgets[stages.LOOP].end_unit(0, cost)
            self.budgets[stages.LOOP].stop_burst()
        self.tracer.release(stages.LOOP)
        self._iteration = 0

    def _free(self, budget):
        if self.tracer.broken:
            raise RuntimeError(self.tracer.broken)
        self.why_not = self.tracer.taken()
        if self.why_not:
            budget.stop_burst()
        elif not self._calibrated:
            self._calibrated = True
            begin = self._clock()
            calibrate.calibrate(self.tracer, self._clock)
            self._wait_cost += self._clock() - begin
            self._iteration_cost += self._clock() - begin
        return not self.why_not

    # -- dataset and collate calls ------------------------------------------------------------------------------

    def call_begin(self, where, target, skipped=0, skipped_ns=0):
        if self._call is not None:
            if get_ident() == self._call_thread:
                self._call_depth += 1
            return False
        self._call = where
        self._call_thread = get_ident()
        self._call_depth = 1
        budget = self.budgets[where]
        if skipped:
            budget.pass_over(skipped)
            budget.end_unit(skipped_ns, 0, skipped)
        self._call_traced = not self._in_loop and budget.next_unit() and self._free(budget)
        self._call_begin = self._clock()
        if not self._call_traced:
            self.tracer.release(where)
            return False
        if type(target) not in self._prepared or where == stages.COLLATE_FN:
            self._prepared.add(type(target))
            self.tracer.prepare(self.ledgers[where], roots.functions(target, where))
        self.tracer.begin(self.ledgers[where], (), SAMPLE_LIMIT_NS, 1 << 62)
        return self.tracer.heavy

    def call_end(self, where):
        """So many calls to come need not be told of."""
        if self._call is None or get_ident() != self._call_thread:
            return 0
        self._call_depth -= 1
        if self._call_depth:
            return 0
        self._call = None
        cost = 0
        budget = self.budgets[where]
        if self._call_traced:
            cost = self.tracer.end()
            self.ledgers[where].windows += 1
            self._news = True
            if self.tracer.expired:
                budget.stop_burst()
                if self._forgiven < MOST_FORGIVEN:
                    # a library's first use (imports, tables) is not what samples cost
                    self._forgiven += 1
                    cost = 0
            self._wake()
        now = self._clock()
        budget.end_unit(now - self._call_begin, cost)
        self._iteration_cost += cost
        self._wait_cost += cost
        return min(budget.resting(), LONGEST_REST)

    # -- results ------------------------------------------------------------------------------------------------

    def flush(self, loader, force):
        self._loader = loader
        if force and get_ident() == self._loop_thread:
            self._drop_iteration()
        if not self._news:
            return
        now = self._clock()
        self._due = self._due or force or now - self._flushed >= FLUSH_NS
        for where in (stages.LOOP, stages.DATASET, stages.COLLATE_FN):
            if where != stages.LOOP or not self._in_loop:
                self._emit(where, self._due)
        if self._due:
            self._flushed = now
            self._news = False
        # the iteration under way is handed on whole, when it ends
        self._due = self._due and self._in_loop

    def _emit(self, where, due):
        """The first results go out at once, because a short run has no more; the others when due."""
        ledger = self.ledgers[where]
        if ledger.windows >= (1 if due else FIRST_WINDOWS) and (due or where not in self._emitted):
            self._emitted.add(where)
            ledger.flush(lambda stage, file, line, name, count, windows, wall_ns, window_ns: self.emit.profile(
                where, stage, file, line, name, count, windows, wall_ns, window_ns, self._loader))
