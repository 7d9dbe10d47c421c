"""What a callee is for: maps (module, qualified name) to a stage of the pipeline and a name a person can read.

Pure tables. Patterns are matched in order against "module.qualname", the first hit wins; a callee that no pattern
names has no stage and its time stays with whoever called it, so an unknown library is user code, never a wrong stage.
"""

from fnmatch import fnmatchcase

# Numbers of wire::Stage and wire::Where.
UNSPECIFIED, OPEN, READ, DECODE, AUGMENT, TOKENISE, CONVERT, COLLATE, USER_CODE = range(9)
WAIT, COPY, BLOCKING, MODEL, PAUSE = 16, 17, 18, 19, 20
LOOP, DATASET, COLLATE_FN = 0, 1, 2

# Inside these a callee of another stage is part of the job and no stage of its own: a tokenizer that opens its
# vocabulary tokenises, a collate function that stacks collates.
_WHOLE = frozenset((TOKENISE, COLLATE, PAUSE, WAIT, COPY, BLOCKING))

_DATA_TABLE = (
    # containers and shared base classes: what they call has the stage, and the better name
    (
        UNSPECIFIED,
        """
        torchvision.transforms.*Compose* torchvision.transforms.*Lambda*
        torchvision.transforms.*RandomApply* torchvision.transforms.*RandomOrder*
        torchvision.transforms.*RandomChoice* torchvision.transforms.*Transform.forward
        torchvision.transforms.*Transform.__call__ albumentations.core.* monai.transforms.compose.*
        monai.transforms.transform.* kornia.augmentation.*base*
        """,
    ),
    # opening: names to handles, and the headers that come with them
    (
        OPEN,
        """
        _io.open _io.open_code builtins.open io.open posix.open os.open os.fdopen pathlib.Path.open
        pathlib._local.Path.open posix.stat posix.lstat posix.scandir posix.listdir posix.access
        genericpath.* posixpath.exists PIL.Image.open imageio.*.imopen tarfile.TarFile.open tarfile.open
        tarfile.TarFile.__init__ zipfile.ZipFile.__init__ zipfile.ZipFile.open zipfile.*.ZipFile.open
        zipfile.*.ZipFile.__init__ h5py.*.File.__init__ zarr.*.open* lmdb.open lmdb.Environment
        lmdb.cpython.Environment pyarrow.*.memory_map
        """,
    ),
    # reading: bytes from a file, an archive, a table, a socket
    (
        READ,
        """
        _io.*.read _io.*.read1 _io.*.readinto _io.*.readline _io.*.readlines _io.*.readall _io.*.peek
        posix.read posix.pread posix.preadv mmap.mmap mmap.mmap.* pathlib.*read_bytes pathlib.*read_text
        time.sleep socket.* _socket.* ssl.* _ssl.* select.* http.client.* urllib.* urllib3.* requests.*
        httpx.* aiohttp.* boto3.* botocore.* s3fs.* fsspec.* gcsfs.* google.cloud.storage.* smart_open.*
        azure.storage.* numpy.load numpy.fromfile numpy.memmap* numpy.loadtxt numpy.genfromtxt numpy.*.load
        numpy.*.loadtxt numpy.*.genfromtxt numpy.lib.*NpzFile.* numpy.lib.*read_array numpy.*.memmap.*
        pickle.load pickle.loads _pickle.load _pickle.loads pickle.Unpickler.* json.load json.loads
        torch.load torch.serialization.load pandas.read_* pandas.io.* pyarrow.* h5py.* zarr.* lmdb.*
        tarfile.* zipfile.* netCDF4.* xarray.* datasets.* safetensors.* scipy.io.* numcodecs.* blosc*.*
        sqlite3.* _sqlite3.* gzip.* bz2.* lzma.* zlib.decompress* polars.read_* polars.scan_* nibabel.*.load
        nibabel.*get_fdata nibabel.*.__array__ pydicom.*.dcmread SimpleITK.*ReadImage rasterio.*
        """,
    ),
    # decoding
    (
        DECODE,
        """
        PIL.ImageFile.ImageFile.load PIL.*ImageFile.load* PIL.*ImagePlugin.*.load* PIL.*decode*
        PIL.Image.frombytes ImagingDecoder.* torchvision.io.* torchvision.image.* torch.ops.image.decode*
        cv2.imread cv2.imdecode cv2.VideoCapture* turbojpeg.*.decode* simplejpeg.decode*
        simplejpeg.*.decode* jpeg4py.* accimage.* pyvips.* nvidia.nvimgcodec.* imageio.*imread
        imageio.*.read imageio.*get_data imageio.core.* skimage.io.* tifffile.* imagecodecs.* av.* decord.*
        torchcodec.* ffmpeg.* moviepy.* eva_decord.* pyspng.* rawpy.* torchaudio.load torchaudio.*.load
        torchaudio.io.* librosa.load librosa.core.audio.load librosa.*.load soundfile.read
        soundfile.SoundFile.read* soundfile._* audioread.* soxr.* pydub.*.from_file scipy.io.wavfile.read
        """,
    ),
    # to arrays and tensors, and between formats
    (
        CONVERT,
        """
        torchvision.transforms.*.ToTensor* torchvision.transforms.*.PILToTensor*
        torchvision.transforms.*.ToImage* torchvision.transforms.*.ToDtype*
        torchvision.transforms.*.ConvertImageDtype* torchvision.transforms.*.ToPILImage*
        torchvision.transforms.*.to_tensor torchvision.transforms.*.pil_to_tensor
        torchvision.transforms.*.to_image* torchvision.transforms.*.to_dtype*
        torchvision.transforms.*.to_pil_image torchvision.transforms.*convert_image_dtype
        albumentations.pytorch.* timm.data.transforms.ToNumpy* timm.data.transforms.ToTensor*
        monai.transforms.*.ToTensor* monai.transforms.*.EnsureType* kornia.utils.*to_tensor
        kornia.*image_to_tensor PIL.Image.Image.convert PIL.Image.Image.tobytes
        PIL.Image.Image.__array_interface__ PIL.Image.fromarray PIL.Image.Image.getdata PIL.Image.frombuffer
        torch.from_numpy torch.*.from_numpy torch.tensor torch.as_tensor torch.frombuffer torch.stack
        torch.cat torch.Tensor torch.*Tensor.float torch.*Tensor.to torch._C.*.from_numpy torch._C.*.stack
        torch._C.*.tensor torch._C.*.as_tensor torch.*Tensor.div torch.*Tensor.div_ torch.*Tensor.contiguous
        torch.*Tensor.permute torch.*Tensor.half torch.*Tensor.long numpy.array numpy.asarray
        numpy.ascontiguousarray numpy.stack numpy.*.stack numpy.frombuffer numpy.ndarray.astype
        numpy.ndarray.copy numpy.concatenate numpy.*.ascontiguousarray
        """,
    ),
    # augmentation
    (
        AUGMENT,
        """
        PIL.ImageOps.* PIL.ImageEnhance.* PIL.ImageFilter.* PIL.ImageChops.* PIL.Image.Image.resize
        PIL.Image.Image.crop PIL.Image.Image.transpose PIL.Image.Image.rotate PIL.Image.Image.transform
        PIL.Image.Image.filter PIL.Image.Image.thumbnail PIL.Image.Image.reduce PIL.Image.Image.point
        PIL.Image.Image.paste PIL.Image.Image.split PIL.Image.Image.quantize PIL.Image.Image.effect_spread
        PIL.Image.blend PIL.Image.composite PIL.Image.merge PIL.Image.Image.getbands
        torchvision.transforms.* timm.data.* albumentations.* albucore.* kornia.* imgaug.*
        monai.transforms.* torchio.* audiomentations.* torch_audiomentations.* torchaudio.transforms.*
        torchaudio.functional.* torch.nn.functional.interpolate torch._C._nn.upsample* skimage.*
        scipy.ndimage.* scipy.signal.* librosa.* cv2.*
        """,
    ),
    # text
    (
        TOKENISE,
        """
        tokenizers.* builtins.Tokenizer.* transformers.*okeniz* transformers.*BatchEncoding* sentencepiece.*
        tiktoken.* nltk.* spacy.* torchtext.* youtokentome.* subword_nmt.*
        """,
    ),
    (
        COLLATE,
        """
        torch.utils.data._utils.collate.* transformers.data.data_collator.* torch_geometric.*.collate*
        torch_geometric.data.batch.* torch.nn.utils.rnn.pad_sequence
        """,
    ),
)

_LOOP_TABLE = (
    # decorators: what they wrap has the stage
    (
        UNSPECIFIED,
        """
        torch._compile.* torch._dynamo.* torch.utils._contextlib.* torch.overrides.* torch.optim.*wrapper
        torch.optim.*_use_grad
        """,
    ),
    (
        BLOCKING,
        """
        torch.*Tensor.item torch.*Tensor.cpu torch.*Tensor.numpy torch.*Tensor.tolist torch.*Tensor.nonzero
        torch.*Tensor.__float__ torch.*Tensor.__int__ torch.*Tensor.__bool__ torch.*Tensor.__index__
        torch.*Tensor.__array__ torch.*Tensor.is_nonzero torch.*Tensor.__contains__ torch.*Tensor.equal
        torch.Tensor.__repr__ torch._tensor_str.* torch.*.nonzero torch.*.allclose torch.*.equal
        torch.*.masked_select torch.*.unique torch.*synchronize torch.*empty_cache torch.cuda.*Event.elapsed_time numpy.asarray
        numpy.array
        """,
    ),
    (
        COPY,
        """
        torch.*Tensor.to torch.*Tensor.cuda torch.*Tensor.pin_memory torch.*Tensor.copy_ torch.*Tensor.xpu
        accelerate.utils.operations.send_to_device transformers.*BatchEncoding.to
        transformers.trainer.Trainer._prepare_input* lightning*.move_data_to_device
        *.transfer_batch_to_device *.batch_to_device
        """,
    ),
    (
        PAUSE,
        """
        time.sleep torch.save torch.serialization.save torch.serialization._save safetensors.*
        *.save_pretrained *.save_checkpoint *.save_state pickle.dump _pickle.dump builtins.print logging.*
        wandb.* mlflow.* tensorboard.* torch.utils.tensorboard.* tensorboardX.* comet_ml.* neptune.*
        loguru.* _io.*.write _io.*.flush posix.write posix.fsync posix.replace shutil.* matplotlib.*
        gc.collect json.dump requests.* urllib.request.* httpx.*
        """,
    ),
    (
        MODEL,
        """
        torch.* transformers.models.* accelerate.accelerator.Accelerator.backward timm.models.* timm.optim.*
        torchvision.models.* apex.* deepspeed.* xformers.* flash_attn.*
        """,
    ),
)


def _index(table):
    """Patterns by top-level package, in the order of the table; those that begin with a wildcard under ''."""
    packages = {}
    for stage, patterns in table:
        for pattern in patterns.split():
            head = pattern.split(".", 1)[0]
            packages.setdefault("" if "*" in head else head, []).append((pattern, stage))
    return packages


_DATA = _index(_DATA_TABLE)
_TABLES = {LOOP: _index(_LOOP_TABLE), DATASET: _DATA, COLLATE_FN: _DATA}


def classify(module, qualname, where):
    """(stage, readable name) of a callee in a dataset, a collate function or a training loop; None if it has no stage.

    A class's constructor and an instance's __call__ come as "Class" or "Class.method", a C method as "Type.method".
    """
    module, qualname = _normal(module or "builtins", qualname)
    full = module + "." + qualname
    tables = _TABLES[where]
    for key in (module.split(".", 1)[0], ""):
        for pattern, stage in tables.get(key, ()):
            if fnmatchcase(full, pattern):
                return (stage, readable(module, qualname)) if stage else None
    return None


_TENSORS = frozenset(("_TensorBase", "TensorBase", "Tensor", "Parameter", "Buffer"))


def _normal(module, qualname):
    """torch's functions and tensor methods under the names of its documentation."""
    head, _, rest = qualname.partition(".")
    if rest and module.split(".", 1)[0] == "torch":
        if head in _TENSORS:
            return "torch", "Tensor." + rest
        if head == "_VariableFunctionsClass":
            return "torch", rest
    return module, qualname


_SHORT_MODULES = {"_io": "io", "posix": "os", "builtins": "", "_pickle": "pickle", "_socket": "socket", "_ssl": "ssl"}
_DROPPED_ENDS = (".forward", ".__call__", ".__init__", ".__new__", ".transform", ".apply")


def readable(module, qualname):
    """The name a person knows the callee by: "PIL.Image.Image.convert", "open", "torchvision.transforms.Resize"."""
    qualname = qualname.replace(".<locals>", "")
    if module in ("_io", "io") and qualname == "open":
        return "open"
    parts = _SHORT_MODULES.get(module, module).split(".")
    if parts[0] in ("torchvision", "albumentations", "kornia", "monai", "timm", "numpy", "torch"):
        parts = _public(parts, qualname)
    for end in _DROPPED_ENDS:
        if qualname.endswith(end) and qualname[: -len(end)]:
            qualname = qualname[: -len(end)]
            break
    return ".".join([part for part in parts if part] + [qualname])


def _public(parts, qualname):
    """Package path without the private and repeated file names that users never type."""
    if parts[0] == "numpy":
        return parts[:1]
    if parts[:3] == ["torchvision", "transforms", "v2"]:
        return parts[:3]
    if parts[0] == "torch":
        return [part for part in parts if part not in ("_utils", "_C")]
    return parts[:2]


def refine(outer, inner):
    """True if time in `inner` (a stage), called within `outer`, is told apart from `outer`'s own.

    The innermost callee wins, except that a callee of the same stage stays under the outer name (the transform, not
    the PIL call that it makes), and that some jobs are one whole. A model's blocking reads are always told apart.
    """
    if outer == inner or outer in _WHOLE:
        return False
    return outer != MODEL or inner in (BLOCKING, PAUSE)


def is_descended(module):
    """True for libraries whose own calls are followed, because one call of theirs mixes several stages."""
    if module.startswith("torch."):
        return module.startswith("torch.utils.data.")
    return module.split(".", 1)[0] in _DESCENDED


_DESCENDED = frozenset((
    "PIL torchvision albumentations albucore imgaug monai timm torchio torch_geometric datasets webdataset litdata "
    "streaming imageio skimage kornia").split())
