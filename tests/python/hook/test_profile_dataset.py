"""Lines and callees of datasets and collate functions, on whichever tier this Python has."""

import os
import tempfile
import threading
import unittest

from profile_support import COLLATE, DATASET, OPEN, READ, Loader, Numbers, ProfileTest, burn, line_of, profile


def samples():
    while True:
        burn(1)  # one
        yield 1
        burn(3)  # two
        yield 2


class Dataset(ProfileTest):
    def test_lines_of_the_dataset_get_their_shares(self):
        class Images:
            def __getitem__(self, index):
                burn(1)  # read
                return self.decode()

            def decode(self):
                return burn(3)  # decode

        for _batch in Loader(Images(), 24):
            pass
        short = self.rows.share(DATASET, line_of(Images, "# read"))
        long = self.rows.share(DATASET, line_of(Images, "# decode"))
        self.assertTrue(0.12 < short < 0.4, short)
        self.assertTrue(0.5 < long < 0.88, long)

    def test_files_are_opened_and_read_and_their_folder_is_named(self):
        path = os.path.join(tempfile.mkdtemp(), "sample.bin")
        with open(path, "wb") as file:
            file.write(bytes(4 << 20))

        class Files:
            def __getitem__(self, index):
                with open(path, "rb") as file:  # open
                    return len(file.read())  # read

        for _batch in Loader(Files(), 24):
            pass
        self.assertIn(OPEN, self.rows.stage(DATASET, line_of(Files, "# open"), "open"))
        self.assertEqual(self.rows.stage(DATASET, line_of(Files, "# read")), {READ})
        self.assertGreater(self.rows.share(DATASET, line_of(Files, "# read")), 0.5)
        self.assertEqual(self.rows.paths, [path])

    def test_calls_of_a_cheap_dataset_mostly_need_not_be_told_of(self):
        class Cheap:
            def __getitem__(self, index):
                return index  # cheap

        dataset, told, rest, skipped = Cheap(), 0, 0, 0
        for index in range(5000):
            if rest:
                rest, skipped = rest - 1, skipped + 1
                dataset[index]
                continue
            profile.sample_begin(dataset, skipped, 300 * skipped)
            told, skipped = told + 1, 0
            dataset[index]
            rest = profile.sample_end()
        self.assertTrue(20 < told < 1000, told)
        self.assertEqual(profile._watcher.budgets[DATASET].units + skipped, 5000)  # in the long run none is forgotten
        profile.flush(1, True)
        self.assertGreater(self.rows.share(DATASET, line_of(Cheap, "# cheap")), 0)

    def test_recursion_and_comprehensions_count_once(self):
        class Tree:
            def __getitem__(self, index):
                return self.walk(5) + sum([self.leaf() for _ in range(3)])  # leaves

            def walk(self, depth):
                burn(1)  # walk
                return 0 if depth == 1 else self.walk(depth - 1)

            def leaf(self):
                burn(1)
                return 1

        for _batch in Loader(Tree(), 12):
            pass
        self.assertTrue(0.45 < self.rows.share(DATASET, line_of(Tree, "# walk")) < 0.8)
        for row in self.rows.rows:
            self.assertLessEqual(row[7], row[8])

    def test_a_generator_dataset_resumed_for_each_sample(self):
        class Stream:
            def __init__(self):
                self.iterator = None

            def __iter__(self):
                return samples()

            def __getitem__(self, index):
                if self.iterator is None:
                    self.iterator = iter(self)
                return next(self.iterator)

        for _batch in Loader(Stream(), 24):
            pass
        self.assertGreater(self.rows.share(DATASET, line_of(samples, "# two")), 0.4)

    def test_an_exception_of_the_dataset_is_the_users_own(self):
        class Broken:
            def __getitem__(self, index):
                try:
                    self.fail(index)
                except ValueError:
                    burn(1)  # handled
                return index

            def fail(self, index):
                raise ValueError(index)

        for _batch in Loader(Broken(), 16):
            pass
        self.assertGreater(self.rows.share(DATASET, line_of(Broken, "# handled")), 0.5)

    def test_the_collate_function_has_its_own_account(self):
        def collate(samples):
            burn(1)  # first
            burn(2)  # second
            return samples

        for _batch in Loader(Numbers(), 12, collate=collate):
            pass
        self.assertTrue(0.4 < self.rows.share(COLLATE, line_of(collate, "# second")) < 0.85)

    def test_threads_of_the_dataset_are_not_followed(self):
        class Pool:
            def __getitem__(self, index):
                thread = threading.Thread(target=self.work)
                thread.start()
                thread.join()  # join
                return index

            def work(self):
                burn(2)  # thread

        for _batch in Loader(Pool(), 12):
            pass
        self.assertEqual(self.rows.share(DATASET, line_of(Pool, "# thread")), 0)

    def test_a_loader_inside_the_dataset_is_part_of_the_sample(self):
        class Nested:
            def __getitem__(self, index):
                return [batch for batch in Loader(Numbers(), 2)] + [burn(10)]  # nested

        for _batch in Loader(Nested(), 12):
            pass
        self.assertGreater(self.rows.share(DATASET, line_of(Nested, "# nested")), 0.5)


if __name__ == "__main__":
    unittest.main()
