"""Lines and callees of real loops, on whichever tier this Python has, and what line timing leaves untouched."""

import os
import sys
import tempfile
import threading
import time
import unittest

from profile_support import LOOP, MONITORING, PAUSE, WAIT, Loader, Numbers, ProfileTest, Rows, burn, line_of, profile


class Loop(ProfileTest):
    def test_lines_of_the_running_loop_get_their_shares(self):
        def train():
            for _batch in Loader(Numbers(), 12):
                burn(1)  # short
                burn(3)  # long

        train()
        short = self.rows.share(LOOP, line_of(train, "# short"))
        long = self.rows.share(LOOP, line_of(train, "# long"))
        self.assertTrue(0.12 < short < 0.4, short)
        self.assertTrue(0.5 < long < 0.88, long)

    def test_the_wait_belongs_to_the_line_of_the_loop(self):
        class Slow:
            def __getitem__(self, index):
                return burn(1)

        def train():
            for _batch in Loader(Slow(), 12, batch_size=3):  # wait
                burn(1)

        train()
        line = line_of(train, "# wait")
        self.assertTrue(0.55 < self.rows.share(LOOP, line, "next") < 0.9, self.rows.rows)
        self.assertEqual(self.rows.stage(LOOP, line), {WAIT})

    def test_a_function_that_the_loop_calls_shows_its_own_lines(self):
        def step():
            burn(2)  # inner

        def train():
            for _batch in Loader(Numbers(), 12):
                burn(1)
                step()  # call

        train()
        self.assertGreater(self.rows.share(LOOP, line_of(step, "# inner")), 0.45)
        self.assertLess(self.rows.share(LOOP, line_of(train, "# call")), 0.1)

    def test_a_generator_around_the_loader_and_its_consumer_both_show_lines(self):
        def log_every(loader):
            for batch in loader:
                burn(1)  # before
                yield batch
                burn(1)  # after

        def train():
            for _batch in log_every(Loader(Numbers(), 12)):
                burn(2)  # body

        train()
        self.assertGreater(self.rows.share(LOOP, line_of(train, "# body")), 0.3)
        self.assertGreater(self.rows.share(LOOP, line_of(log_every, "# before")), 0.12)
        self.assertGreater(self.rows.share(LOOP, line_of(log_every, "# after")), 0.12)

    def test_a_module_level_loop(self):
        path = os.path.join(tempfile.mkdtemp(), "script.py")
        source = "for batch in loader:\n    burn(1)\n    burn(3)\n"
        with open(path, "w") as file:
            file.write(source)
        exec(compile(source, path, "exec"), {"loader": Loader(Numbers(), 12), "burn": burn, "__name__": "__main__"})
        self.assertGreater(self.rows.share(LOOP, 3), 0.5)
        self.assertTrue(0.1 < self.rows.share(LOOP, 2) < 0.4)

    def test_a_sleep_in_the_loop_is_a_pause(self):
        self.start(time.monotonic_ns)

        def train():
            for _batch in Loader(Numbers(), 8):
                time.sleep(0.002)  # sleep

        train()
        line = line_of(train, "# sleep")
        self.assertGreater(self.rows.share(LOOP, line, "time.sleep"), 0.4)
        self.assertEqual(self.rows.stage(LOOP, line), {PAUSE})

    def test_an_exception_of_the_loop_body_passes_and_the_next_loop_is_timed(self):
        def step(batch, number):
            burn(1)
            if number == 3:  # in a traced iteration
                raise KeyError("mine")

        def train():
            for number, batch in enumerate(Loader(Numbers(), 12)):
                step(batch, number)

        names = []
        try:
            train()
        except KeyError as error:
            traceback = error.__traceback__
        while traceback is not None:
            names.append(traceback.tb_frame.f_code.co_name)
            traceback = traceback.tb_next
        self.assertEqual(names[-2:], ["train", "step"])
        self.assertIsNone(sys.gettrace())
        self.start()

        def again():
            for _batch in Loader(Numbers(), 12):
                burn(1)  # again

        again()
        self.assertGreater(self.rows.share(LOOP, line_of(again, "# again")), 0.5)

    def test_what_comes_after_the_last_batch_is_no_iteration(self):
        def train():
            for _batch in Loader(Numbers(), 4):
                burn(1)
            burn(20)  # evaluation

        train()
        profile.flush(1, True)
        self.assertEqual(self.rows.share(LOOP, line_of(train, "# evaluation")), 0)

    def test_an_iteration_left_by_a_break_is_dropped(self):
        def first():
            for number, _batch in enumerate(Loader(Numbers(), 12)):
                burn(1)
                if number == 3:
                    break

        def train():
            first()
            burn(30)  # between
            for _batch in Loader(Numbers(), 12):
                burn(1)

        train()
        self.assertEqual(self.rows.share(LOOP, line_of(train, "# between")), 0)

    def test_next_in_another_thread_than_the_first_is_left_alone(self):
        def train():
            for _batch in Loader(Numbers(), 6):
                burn(1)  # main

        def other():
            for _batch in Loader(Numbers(), 6):
                burn(1)  # other

        train()
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        self.assertGreater(self.rows.share(LOOP, line_of(train, "# main")), 0.5)
        self.assertEqual(self.rows.share(LOOP, line_of(other, "# other")), 0)

    @unittest.skipIf(MONITORING, "sys.monitoring does not slow an iteration")
    def test_traced_iterations_are_reported_and_few(self):
        loader = Loader(Numbers(), 40)
        for _batch in loader:
            burn(1)
        self.assertIn(True, loader.traced[:6])
        self.assertLess(sum(loader.traced), 14)


class Manners(unittest.TestCase):
    def tearDown(self):
        profile.stop()

    def train(self, body):
        for number, _batch in enumerate(Loader(Numbers(), 12)):
            body(number)

    def test_nothing_happens_before_start(self):
        self.train(lambda number: burn(1))
        self.assertEqual(profile.tier(), "")
        self.assertTrue(profile.why_not())

    @unittest.skipIf(MONITORING, "sys.monitoring does not meet sys.settrace")
    def test_another_tracer_is_left_in_place_and_named(self):
        def tracer(frame, event, arg):
            return None

        profile.start(Rows())
        sys.settrace(tracer)
        try:
            self.train(lambda number: burn(1))
            self.assertIs(sys.gettrace(), tracer)
            self.assertIn("tracer", profile.why_not())
        finally:
            sys.settrace(None)

    @unittest.skipIf(MONITORING, "sys.monitoring does not meet sys.settrace")
    def test_a_tracer_that_the_user_sets_midway_stays(self):
        def tracer(frame, event, arg):
            return None

        rows = Rows()
        profile.start(rows)
        try:
            for number, _batch in enumerate(Loader(Numbers(), 8)):
                if number == 2:
                    sys.settrace(tracer)
                    sys.setprofile(tracer)
                if number > 2:
                    self.assertIs(sys.gettrace(), tracer)
                    self.assertIs(sys.getprofile(), tracer)
        finally:
            sys.settrace(None)
            sys.setprofile(None)

    def test_a_fault_of_ours_ends_line_timing_and_nothing_else(self):
        class Failing(Rows):
            def profile(self, *row):
                raise OSError("ring gone")

        profile.start(Failing())
        # raised in this file, so not ours: as from a signal handler, it goes on its way
        with self.assertRaises(OSError):
            self.train(lambda number: burn(1))
            profile.flush(1, True)

    @unittest.skipUnless(MONITORING, "needs sys.monitoring")
    def test_the_tool_id_is_given_back(self):
        profile.start(Rows())
        tools = [sys.monitoring.get_tool(tool) for tool in range(6)]
        self.assertIn("fullbore", tools)
        profile.stop()
        self.assertNotIn("fullbore", [sys.monitoring.get_tool(tool) for tool in range(6)])

    @unittest.skipUnless(MONITORING, "needs sys.monitoring")
    def test_without_a_free_tool_id_lines_are_off_with_the_reason(self):
        free = [tool for tool in (3, 4, 5) if sys.monitoring.get_tool(tool) is None]
        for tool in free:
            sys.monitoring.use_tool_id(tool, "other")
        try:
            profile.start(Rows())
            self.assertEqual(profile.tier(), "")
            self.assertIn("taken", profile.why_not())
        finally:
            for tool in free:
                sys.monitoring.free_tool_id(tool)

    @unittest.skipUnless(hasattr(os, "fork"), "needs fork")
    def test_a_child_forked_in_a_traced_iteration_is_not_traced(self):
        profile.start(Rows())
        status = []

        def body(number):
            child = os.fork()
            if child == 0:
                os._exit(0 if sys.gettrace() is None and sys.getprofile() is None else 3)
            status.append(os.waitpid(child, 0)[1])

        self.train(body)
        self.assertEqual(status, [0] * 12)


if __name__ == "__main__":
    unittest.main()
