"""One pass over the wrapped loader: in the calling thread, or with a thread that draws batches ahead."""

import atexit
import collections
import os
import threading
import time
import weakref

from .watched import watch

_JOIN_S = 1.0


class Drawing:
    """Draws batches from the wrapped loader's iterator and sends them. Used by one thread at a time."""

    def __init__(self, inner, transport, snapshot, fresh_memory):
        self._inner = inner
        self._transport = transport
        self._snapshot = snapshot
        self._fresh_memory = fresh_memory  # the loader never writes again into a batch that it gave
        self._last = None

    def draw(self):
        if self._last is not None and not self._fresh_memory:
            self._last.wait_for_sources()
        batch = next(self._inner)
        sent = self._transport.send(batch)
        sent.state = self._snapshot()
        self._last = sent.transfer
        return sent

    def end(self):
        """Lets go of the loader's iterator, which ends its workers."""
        self._inner = self._last = None


class _Iterator:
    """What both kinds share: handing out, the end, errors, and refusing to work in a forked child."""

    def __init__(self, drawing, transport, with_timing, state):
        self._drawing = drawing
        self._transport = transport
        self._with_timing = with_timing
        self._state = state
        self._closed = None  # why, once it is
        self._pid = os.getpid()
        _open.add(self)

    def __iter__(self):
        return self

    def __next__(self):
        began = time.monotonic()
        if os.getpid() != self._pid:
            raise RuntimeError(
                "this iterator belongs to process %d and does not work in a child forked from it; make the loader in the "
                "child, or start it with multiprocessing.get_context('spawn')" % self._pid
            )
        if self._closed is not None:
            if self._closed:
                raise RuntimeError(self._closed)
            raise StopIteration
        batch, timing = self._next_batch(began)
        return (batch, timing) if self._with_timing else batch

    def _next_batch(self, began):
        return self._handed_out(self._next_sent(), began)

    def _handed_out(self, sent, began):
        try:
            handed_out = self._transport.hand_out(sent, began)
        except Exception:
            self.close()
            raise
        self._state.yielded(sent.state)
        return handed_out

    def _ends(self, failure):
        """Closes and raises what ended the loader: its own exception with its traceback, or StopIteration."""
        if isinstance(failure, StopIteration):
            self._state.finished()
            self.close(wait=True)
            raise StopIteration
        self.close()
        try:
            raise failure
        finally:
            del failure  # its traceback holds this frame

    def close(self, why="", wait=False):
        """Ends the pass; the batches drawn ahead are dropped. `why`: what next() raises from now on; "": StopIteration."""
        if self._closed is None:
            self._closed = why


class InThread(_Iterator):
    """Draws in the calling thread: random states are shared, as with the wrapped loader alone. With `ahead`, batch k + 1 is
    drawn before k is handed out, so that its copy runs while k is used; more would only delay the first batch."""

    def __init__(self, drawing, transport, with_timing, state, ahead):
        super().__init__(drawing, transport, with_timing, state)
        self._wanted = 2 if ahead else 1
        self._drawn = collections.deque()
        self._failure = None

    def _next_sent(self):
        while len(self._drawn) < self._wanted and self._failure is None:
            try:
                self._drawn.append(self._drawing.draw())
            except Exception as error:
                self._failure = error
        if not self._drawn:
            failure, self._failure = self._failure, None
            self._ends(failure)
        return self._drawn.popleft()

    def close(self, why="", wait=False):
        super().close(why)
        self._drawn.clear()
        self._drawing.end()


class Background(_Iterator):
    """A thread draws up to `depth` batches ahead."""

    def __init__(self, drawing, transport, with_timing, state, depth):
        super().__init__(drawing, transport, with_timing, state)
        self._shared = _Shared(depth)
        self._watched = watch()
        # The thread must not hold the iterator: dropping it is what ends the thread.
        self._thread = threading.Thread(
            target=_draw_ahead,
            args=(self._shared, drawing, transport, self._watched),
            name="fullbore-prefetch",
            daemon=True,
        )
        self._drawing = None
        _threads.add(self._thread)
        self._thread.start()

    def _next_batch(self, began):
        with self._watched.waiting():
            ready = self._shared.ready()
            sent, failure = self._shared.take()
            if failure is not None:
                self._ends(failure)
            batch, timing = self._handed_out(sent, began)
            self._watched.took(sent.drawn, ready, batch)
            return batch, timing

    def close(self, why="", wait=False):
        super().close(why)
        self._shared.stop()
        if self._thread is not threading.current_thread():
            # A loader that is busy making a batch cannot be interrupted; its thread ends when it is done with it.
            self._thread.join(None if wait else _JOIN_S)

    @property
    def thread(self):
        return self._thread

    def __del__(self):
        if os.getpid() == self._pid:
            self._shared.stop()


class _Shared:
    """Between the drawing thread and the consumer: the batches drawn ahead, and the end."""

    def __init__(self, depth):
        self._depth = depth
        self._changed = threading.Condition()
        self._drawn = collections.deque()
        self._failure = None
        self._stopped = False

    def wait_for_room(self):
        """Blocks the drawing thread until fewer than `depth` batches wait; False: stop."""
        with self._changed:
            while len(self._drawn) >= self._depth and not self._stopped:
                self._changed.wait()
            return not self._stopped

    def ready(self):
        """Batches that wait to be handed out."""
        return len(self._drawn)

    def put(self, sent):
        with self._changed:
            if not self._stopped:
                self._drawn.append(sent)
            self._changed.notify_all()

    def fail(self, failure):
        with self._changed:
            self._failure = failure
            self._changed.notify_all()

    def take(self):
        """(batch, None), or (None, what ended the loader) after the last batch."""
        with self._changed:
            while not self._drawn and self._failure is None and not self._stopped:
                self._changed.wait()  # a signal's handler, Ctrl-C's too, runs and may raise here
            if self._drawn:
                self._changed.notify_all()
                return self._drawn.popleft(), None
            failure, self._failure = self._failure, None
            return None, failure if failure is not None else StopIteration()

    def stop(self):
        with self._changed:
            self._stopped = True
            dropped = list(self._drawn)
            self._drawn.clear()
            self._changed.notify_all()
        del dropped  # waits for copies under way, which must not be done with the lock


def _draw_ahead(shared, drawing, transport, watched):
    try:
        transport.enter_thread()
        watched.draws()
        while shared.wait_for_room():
            sent = drawing.draw()
            sent.drawn = watched.drawn()
            shared.put(sent)
            del sent  # the consumer alone decides how long a batch lives
    except BaseException as failure:
        shared.fail(failure)
    finally:
        drawing.end()


# Closed when the interpreter ends, so that no thread of ours runs into its end: first passes, then what they used. The
# threads of passes that were dropped are on their way out by themselves, and waited for.
_open = weakref.WeakSet()
_threads = weakref.WeakSet()


def close_at_exit(transport):
    _open.add(transport)


def _close_all():
    if os.getpid() != _pid:  # a forked child has none of the threads
        return
    passes = [one for one in _open if isinstance(one, _Iterator)]
    for one in passes:
        one.close()
    for thread in list(_threads):
        thread.join(_JOIN_S)
    for one in list(_open):
        if one not in passes:
            one.close()


_pid = os.getpid()


atexit.register(_close_all)
