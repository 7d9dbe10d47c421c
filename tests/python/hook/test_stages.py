"""The table of callees: which stage and which name each well-known one gets."""

import unittest

import profile_support  # noqa: F401  (puts the hook on the path)
from _fullbore_hook.lines import stages as s

DATASET_CALLS = [
    # module, qualified name, stage, readable name
    ("_io", "open", s.OPEN, "open"),
    ("io", "open", s.OPEN, "open"),
    ("posix", "open", s.OPEN, "os.open"),
    ("posix", "stat", s.OPEN, "os.stat"),
    ("PIL.Image", "open", s.OPEN, "PIL.Image.open"),
    ("h5py._hl.files", "File.__init__", s.OPEN, "h5py._hl.files.File"),
    ("tarfile", "TarFile.open", s.OPEN, "tarfile.TarFile.open"),
    ("zipfile", "ZipFile.__init__", s.OPEN, "zipfile.ZipFile"),
    ("lmdb", "open", s.OPEN, "lmdb.open"),
    ("_io", "BufferedReader.read", s.READ, "io.BufferedReader.read"),
    ("_io", "_IOBase.readlines", s.READ, "io._IOBase.readlines"),
    ("pathlib", "Path.read_bytes", s.READ, "pathlib.Path.read_bytes"),
    ("time", "sleep", s.READ, "time.sleep"),
    ("_socket", "socket.recv", s.READ, "socket.socket.recv"),
    ("requests.api", "get", s.READ, "requests.api.get"),
    ("boto3.resources.base", "ServiceResource.get", s.READ, "boto3.resources.base.ServiceResource.get"),
    ("numpy.lib.npyio", "load", s.READ, "numpy.load"),
    ("numpy", "load", s.READ, "numpy.load"),
    ("numpy", "fromfile", s.READ, "numpy.fromfile"),
    ("_pickle", "load", s.READ, "pickle.load"),
    ("pandas.io.parsers.readers", "read_csv", s.READ, "pandas.io.parsers.readers.read_csv"),
    ("pyarrow.parquet.core", "read_table", s.READ, "pyarrow.parquet.core.read_table"),
    ("h5py._hl.dataset", "Dataset.__getitem__", s.READ, "h5py._hl.dataset.Dataset.__getitem__"),
    ("tarfile", "TarFile.extractfile", s.READ, "tarfile.TarFile.extractfile"),
    ("PIL.ImageFile", "ImageFile.load", s.DECODE, "PIL.ImageFile.ImageFile.load"),
    ("torchvision.io.image", "read_image", s.DECODE, "torchvision.io.read_image"),
    ("torchvision.io.image", "decode_jpeg", s.DECODE, "torchvision.io.decode_jpeg"),
    ("cv2", "imread", s.DECODE, "cv2.imread"),
    ("cv2", "imdecode", s.DECODE, "cv2.imdecode"),
    ("turbojpeg", "TurboJPEG.decode", s.DECODE, "turbojpeg.TurboJPEG.decode"),
    ("simplejpeg", "decode_jpeg", s.DECODE, "simplejpeg.decode_jpeg"),
    ("imageio.v2", "imread", s.DECODE, "imageio.v2.imread"),
    ("skimage.io._io", "imread", s.DECODE, "skimage.io._io.imread"),
    ("av.container.core", "open", s.DECODE, "av.container.core.open"),
    ("decord.video_reader", "VideoReader.get_batch", s.DECODE, "decord.video_reader.VideoReader.get_batch"),
    ("torchaudio", "load", s.DECODE, "torchaudio.load"),
    ("librosa.core.audio", "load", s.DECODE, "librosa.core.audio.load"),
    ("soundfile", "read", s.DECODE, "soundfile.read"),
    ("PIL.Image", "Image.convert", s.CONVERT, "PIL.Image.Image.convert"),
    ("PIL.Image", "Image.resize", s.AUGMENT, "PIL.Image.Image.resize"),
    ("PIL.Image", "Image.crop", s.AUGMENT, "PIL.Image.Image.crop"),
    ("PIL.ImageOps", "autocontrast", s.AUGMENT, "PIL.ImageOps.autocontrast"),
    ("torchvision.transforms.transforms", "Resize.forward", s.AUGMENT, "torchvision.transforms.Resize"),
    ("torchvision.transforms.transforms", "RandomResizedCrop.forward", s.AUGMENT,
     "torchvision.transforms.RandomResizedCrop"),
    ("torchvision.transforms.transforms", "ToTensor.__call__", s.CONVERT, "torchvision.transforms.ToTensor"),
    ("torchvision.transforms.v2._type_conversion", "PILToTensor.transform", s.CONVERT,
     "torchvision.transforms.v2.PILToTensor"),
    ("torchvision.transforms.v2._geometry", "RandomHorizontalFlip.forward", s.AUGMENT,
     "torchvision.transforms.v2.RandomHorizontalFlip"),
    ("cv2", "resize", s.AUGMENT, "cv2.resize"),
    ("albumentations.augmentations.transforms", "GaussNoise.apply", s.AUGMENT,
     "albumentations.augmentations.GaussNoise"),
    ("albumentations.pytorch.transforms", "ToTensorV2.apply", s.CONVERT, "albumentations.pytorch.ToTensorV2"),
    ("kornia.augmentation.auto", "RandAugment.forward", s.AUGMENT, "kornia.augmentation.RandAugment"),
    ("imgaug.augmenters.meta", "Augmenter.augment_image", s.AUGMENT, "imgaug.augmenters.meta.Augmenter.augment_image"),
    ("monai.transforms.spatial.array", "Rotate.__call__", s.AUGMENT, "monai.transforms.Rotate"),
    ("transformers.tokenization_utils_base", "PreTrainedTokenizerBase.__call__", s.TOKENISE,
     "transformers.tokenization_utils_base.PreTrainedTokenizerBase"),
    ("builtins", "Tokenizer.encode", s.TOKENISE, "Tokenizer.encode"),
    ("sentencepiece", "SentencePieceProcessor.Encode", s.TOKENISE, "sentencepiece.SentencePieceProcessor.Encode"),
    ("tiktoken.core", "Encoding.encode", s.TOKENISE, "tiktoken.core.Encoding.encode"),
    ("nltk.tokenize", "word_tokenize", s.TOKENISE, "nltk.tokenize.word_tokenize"),
    ("spacy.language", "Language.__call__", s.TOKENISE, "spacy.language.Language"),
    ("torch", "from_numpy", s.CONVERT, "torch.from_numpy"),
    ("torch._C", "_VariableFunctionsClass.from_numpy", s.CONVERT, "torch.from_numpy"),
    ("torch", "tensor", s.CONVERT, "torch.tensor"),
    ("torch._C", "_VariableFunctionsClass.stack", s.CONVERT, "torch.stack"),
    ("numpy", "asarray", s.CONVERT, "numpy.asarray"),
    ("numpy", "array", s.CONVERT, "numpy.array"),
    ("torch.utils.data._utils.collate", "default_collate", s.COLLATE, "torch.utils.data.collate.default_collate"),
]

LOOP_CALLS = [
    ("torch._C", "TensorBase.item", s.BLOCKING, "torch.Tensor.item"),
    ("torch._C", "_TensorBase.item", s.BLOCKING, "torch.Tensor.item"),
    ("torch._C", "TensorBase.cpu", s.BLOCKING, "torch.Tensor.cpu"),
    ("torch._C", "TensorBase.tolist", s.BLOCKING, "torch.Tensor.tolist"),
    ("torch._C", "TensorBase.nonzero", s.BLOCKING, "torch.Tensor.nonzero"),
    ("torch.cuda", "synchronize", s.BLOCKING, "torch.cuda.synchronize"),
    ("torch._tensor_str", "_str", s.BLOCKING, "torch._tensor_str._str"),
    ("torch._C", "TensorBase.to", s.COPY, "torch.Tensor.to"),
    ("torch._C", "TensorBase.cuda", s.COPY, "torch.Tensor.cuda"),
    ("torch._C", "TensorBase.pin_memory", s.COPY, "torch.Tensor.pin_memory"),
    ("torch._C", "TensorBase.copy_", s.COPY, "torch.Tensor.copy_"),
    ("torch._tensor", "Tensor.backward", s.MODEL, "torch.Tensor.backward"),
    ("torch.optim.sgd", "SGD.step", s.MODEL, "torch.optim.sgd.SGD.step"),
    ("torch.nn.functional", "cross_entropy", s.MODEL, "torch.nn.functional.cross_entropy"),
    ("time", "sleep", s.PAUSE, "time.sleep"),
    ("torch.serialization", "save", s.PAUSE, "torch.serialization.save"),
    ("builtins", "print", s.PAUSE, "print"),
    ("logging", "Logger.info", s.PAUSE, "logging.Logger.info"),
    ("wandb.sdk.wandb_run", "Run.log", s.PAUSE, "wandb.sdk.wandb_run.Run.log"),
]


class Stages(unittest.TestCase):
    def test_callees_of_datasets(self):
        for module, qualname, stage, name in DATASET_CALLS:
            with self.subTest(callee=module + "." + qualname):
                self.assertEqual(s.classify(module, qualname, s.DATASET), (stage, name))

    def test_callees_of_training_loops(self):
        for module, qualname, stage, name in LOOP_CALLS:
            with self.subTest(callee=module + "." + qualname):
                self.assertEqual(s.classify(module, qualname, s.LOOP), (stage, name))

    def test_unknown_callees_have_no_stage(self):
        unknown = "mylib.images load, builtins len, builtins dict.get, random random, re sub, myopen open, avatar x"
        for module, qualname in (callee.split() for callee in unknown.split(", ")):
            with self.subTest(callee=module + "." + qualname):
                self.assertIsNone(s.classify(module, qualname, s.DATASET))

    def test_a_decode_within_a_convert_is_told_apart_and_a_transforms_own_call_is_not(self):
        self.assertTrue(s.refine(s.CONVERT, s.DECODE))
        self.assertTrue(s.refine(s.USER_CODE, s.OPEN))
        self.assertFalse(s.refine(s.AUGMENT, s.AUGMENT))
        self.assertFalse(s.refine(s.COLLATE, s.CONVERT))
        self.assertFalse(s.refine(s.TOKENISE, s.READ))

    def test_only_blocking_reads_and_pauses_are_told_apart_within_a_model(self):
        self.assertTrue(s.refine(s.MODEL, s.BLOCKING))
        self.assertFalse(s.refine(s.MODEL, s.COPY))


if __name__ == "__main__":
    unittest.main()
