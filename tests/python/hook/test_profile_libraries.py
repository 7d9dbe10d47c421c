"""Libraries that mix stages in one call, and torch itself, with stand-ins of their shape in a site-packages folder."""

import os
import sys
import tempfile
import textwrap
import time
import types
import unittest

from profile_support import Loader, Numbers, Rows, burn, line_of, profile

LOOP, DATASET, COLLATE = 0, 1, 2
OPEN, READ, DECODE, AUGMENT, TOKENISE, CONVERT, COLLATING, USER_CODE = range(1, 9)
BLOCKING, MODEL = 18, 19

LIBRARIES = {
    "PIL/__init__.py": "",
    "PIL/ImageFile.py": """
        from work import burn
        class ImageFile:
            def load(self):
                burn(4)
        """,
    "PIL/Image.py": """
        from work import burn
        from PIL import ImageFile
        class Image(ImageFile.ImageFile):
            def convert(self, mode):
                self.load()
                burn(1)
                return Image()
            def resize(self, size):
                burn(2)
                return self
        def open(path):
            burn(1)
            return Image()
        """,
    "torchvision/__init__.py": "",
    "torchvision/transforms/__init__.py": "",
    "torchvision/transforms/transforms.py": """
        from work import burn
        class Compose:
            def __init__(self, transforms):
                self.transforms = transforms
            def __call__(self, image):
                for transform in self.transforms:
                    image = transform(image)
                return image
        class Resize:
            def __call__(self, image):
                return image.resize(1)
        class ToTensor:
            def __call__(self, image):
                burn(1)
                return image
        """,
    "torchvision/datasets.py": """
        from work import burn
        class ImageFolder:
            def __getitem__(self, index):
                from PIL import Image
                return Image.open(index).convert("RGB")
        """,
    "transformers/__init__.py": "",
    "transformers/tokenization_utils_base.py": """
        from work import burn
        class PreTrainedTokenizerBase:
            def __call__(self, text):
                with open("/dev/null") as file:
                    file.read()
                burn(2)
        """,
    "framework.py": """
        class FitLoop:
            def __init__(self, trainer):
                self.trainer = trainer
            def advance(self, loader):
                for batch in loader:
                    self.trainer.strategy.task.training_step(batch)
        class Strategy:
            def __init__(self, task):
                self.task = task
        class Trainer:
            def __init__(self, task):
                self.strategy = Strategy(task)
            def fit(self, loader):
                FitLoop(self).advance(loader)
        """,
    "torch/__init__.py": """
        from work import burn
        class Tensor:
            def cpu(self):
                burn(1)
                return self
        """,
    "torch/nn/__init__.py": "",
    "torch/nn/modules/__init__.py": "",
    "torch/nn/modules/module.py": """
        class Module:
            def __call__(self, *arguments):
                return self._call_impl(*arguments)
            def _call_impl(self, *arguments):
                return self.forward(*arguments)
        """,
}


class Libraries(unittest.TestCase):
    def setUp(self):
        folder = os.path.join(tempfile.mkdtemp(), "site-packages")
        for name, source in LIBRARIES.items():
            path = os.path.join(folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w") as file:
                file.write(textwrap.dedent(source))
        self.before = dict(sys.modules)
        work = sys.modules["work"] = types.ModuleType("work")
        work.burn = burn
        sys.path.insert(0, folder)
        for name in list(sys.modules):
            if name.split(".")[0] in ("PIL", "framework", "torch", "torchvision", "transformers"):
                del sys.modules[name]
        self.addCleanup(self.restore, folder)
        self.rows = Rows()
        profile.stop()
        profile.start(self.rows, clock=time.thread_time_ns)
        self.addCleanup(profile.stop)

    def restore(self, folder):
        sys.path.remove(folder)
        sys.modules.clear()
        sys.modules.update(self.before)

    def tearDown(self):
        self.assertEqual(profile.why_not(), "")

    def test_a_lazy_decode_is_told_from_the_conversion_that_triggers_it(self):
        from PIL import Image

        class Photos:
            def __getitem__(self, index):
                return Image.open(index).convert("RGB")  # photo

        for _batch in Loader(Photos(), 16):
            pass
        line = line_of(Photos, "# photo")
        decode = self.rows.share(DATASET, line, "PIL.ImageFile.ImageFile.load")
        convert = self.rows.share(DATASET, line, "PIL.Image.Image.convert")
        opened = self.rows.share(DATASET, line, "PIL.Image.open")
        self.assertTrue(0.5 < decode < 0.8, self.rows.rows)
        self.assertTrue(0.08 < convert < 0.3, self.rows.rows)
        self.assertTrue(0.08 < opened < 0.3, self.rows.rows)
        self.assertEqual(self.rows.stage(DATASET, line), {DECODE})

    def test_each_transform_of_a_compose_has_its_name_and_the_users_own_its_lines(self):
        from PIL import Image
        from torchvision.transforms import transforms as T

        class Mine:
            def __call__(self, image):
                burn(3)  # mine
                return image

        compose = T.Compose([T.Resize(), Mine(), T.ToTensor()])

        class Composed:
            def __getitem__(self, index):
                return compose(Image.Image())  # compose

        for _batch in Loader(Composed(), 16):
            pass
        line = line_of(Composed, "# compose")
        self.assertIn(AUGMENT, self.rows.stage(DATASET, line, "torchvision.transforms.Resize"))
        self.assertNotIn("PIL.Image.Image.resize", self.rows.names(DATASET))
        self.assertGreater(self.rows.share(DATASET, line, "torchvision.transforms.Resize"), 0.2)
        self.assertGreater(self.rows.share(DATASET, line, "torchvision.transforms.ToTensor"), 0.08)
        self.assertGreater(self.rows.share(DATASET, line_of(Mine, "# mine")), 0.35)

    def test_a_dataset_of_a_library_shows_the_librarys_lines(self):
        from torchvision.datasets import ImageFolder

        for _batch in Loader(ImageFolder(), 16):
            pass
        lines = {row[2:4] for row in self.rows.rows if row[0] == DATASET}
        self.assertIn(("datasets.py", 6), lines)
        self.assertIn(DECODE, self.rows.stage(DATASET, 6))

    def test_a_tokenizer_is_one_whole(self):
        from transformers.tokenization_utils_base import PreTrainedTokenizerBase

        class Texts:
            def __init__(self):
                self.tokenizer = PreTrainedTokenizerBase()

            def __getitem__(self, index):
                return self.tokenizer("text")  # tokens

        for _batch in Loader(Texts(), 16):
            pass
        line = line_of(Texts, "# tokens")
        self.assertEqual(self.rows.stage(DATASET, line), {TOKENISE})
        self.assertGreater(self.rows.share(DATASET, line), 0.8)

    def test_lines_of_a_model_belong_to_the_loops_line_that_calls_it(self):
        from torch.nn.modules.module import Module

        class Net(Module):
            def forward(self, batch):
                burn(2)  # forward

        net = Net()

        def train():
            for batch in Loader(Numbers(), 8):
                net(batch)  # model
                burn(1)

        train()
        line = line_of(train, "# model")
        self.assertEqual(self.rows.stage(LOOP, line), {MODEL})
        self.assertGreater(self.rows.share(LOOP, line, "torch.nn.Module"), 0.4)
        self.assertEqual(self.rows.share(LOOP, line_of(Net, "# forward")), 0)

    def test_a_blocking_read_is_told_with_its_place(self):
        from torch import Tensor

        tensor = Tensor()

        def train():
            for _batch in Loader(Numbers(), 8):
                burn(1)
                tensor.cpu()  # read

        train()
        line = line_of(train, "# read")
        self.assertEqual(self.rows.stage(LOOP, line), {BLOCKING})
        self.assertTrue(self.rows.intervals)
        for kind, begin, end, name, file, number in self.rows.intervals:
            self.assertEqual((kind, name, file, number), (3, "torch.Tensor.cpu", "test_profile_libraries.py", line))
            self.assertLess(begin, end)

    def test_a_frameworks_loop_shows_the_lines_of_the_users_training_step(self):
        from framework import Trainer

        class Task:
            def training_step(self, batch):
                burn(1)
                burn(2)  # step

        def main():
            Trainer(Task()).fit(Loader(Numbers(), 8))  # fit

        main()
        self.assertGreater(self.rows.share(LOOP, line_of(Task, "# step")), 0.4)
        self.assertLess(self.rows.share(LOOP, line_of(main, "# fit")), 0.4)

    @unittest.skipIf(hasattr(sys, "monitoring"), "sys.monitoring does not disturb torch.compile")
    def test_nothing_is_armed_while_torch_compile_is_active(self):
        dynamo = sys.modules["torch._dynamo.utils"] = types.ModuleType("torch._dynamo.utils")
        dynamo.counters = {"frames": {"total": 3, "ok": 3}}

        for _batch in Loader(Numbers(), 8):
            self.assertIsNone(sys.gettrace())
        self.assertIn("torch.compile", profile.why_not())
        del sys.modules["torch._dynamo.utils"]
        profile.start(self.rows)


if __name__ == "__main__":
    unittest.main()
