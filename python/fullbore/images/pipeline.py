"""A list of transforms as one pass in C++: the part of the picture that is seen, mirroring, then pixels, then values.

The transforms of torchvision itself are taken as well: they are known by the name of their class and read by the names
of their attributes, so a pipeline written for it moves over as it is. Orders that would need the picture as it was
before it had its size, or rounding in another place, are refused with the order that is served.
"""

import dataclasses
import struct
import sys

_GEOMETRIES = (["RandomResizedCrop"], ["Resize"], ["Resize", "CenterCrop"])
# torchvision's, which change how values are stored in its memory and not the values.
_NOTHING_TO_DO = {"PILToTensor", "ToImage", "ToPureTensor"}


@dataclasses.dataclass
class Pipeline:
    """Transforms in the order in which they are done."""

    geometry: list = dataclasses.field(default_factory=list)
    flip: float = 0.0
    pixels: list = dataclasses.field(default_factory=list)  # on 8-bit pixels, in the user's order
    floating: str = ""  # the first transform that made numbers of another type of them
    dtype: object = None  # that a transform asks for
    scale: bool = True
    normalize: object = None  # (mean, std)
    erasing: object = None  # of the finished values

    def on_bytes(self):
        """What is left of it where 8-bit pixels are handed out, and something else finishes them."""
        if self.erasing is not None:
            raise ValueError(
                "RandomErasing after %s, where a device gets 8-bit pixels; put it before, with a value of 0 to 255"
                % self.floating
            )
        return dataclasses.replace(self, floating="", dtype=None, scale=True, normalize=None)


def arrange(transforms):
    """The Pipeline of transforms. Raises ValueError for what is unknown, or stands where it cannot be done."""
    if isinstance(transforms, Pipeline):
        return transforms
    pipeline, names = Pipeline(), []
    for step in _flat(transforms):
        name = type(step).__name__
        names.append(name)
        if name in _NOTHING_TO_DO:
            continue
        if name not in _PLACES:
            raise ValueError("there is no transform %s here; known are %s" % (name, ", ".join(sorted(_PLACES))))
        _PLACES[name](pipeline, name, step)
    if not pipeline.geometry:
        raise ValueError(
            "transforms %s; use RandomResizedCrop, or Resize (and CenterCrop), so that all pictures have one size"
            % ", ".join(names or ["(none)"])
        )
    return pipeline


def choose_dtype(pipeline, dtype):
    """The type as the loader's argument has it, else as a transform does. Raises ValueError where they differ."""
    if dtype is None:
        return pipeline.dtype or "float32"
    if pipeline.dtype not in (None, dtype):
        raise ValueError("dtype %s, and %s to %s; give one of them" % (dtype, pipeline.floating, pipeline.dtype))
    if dtype == "uint8" and (pipeline.normalize or pipeline.erasing):
        what = "Normalize" if pipeline.normalize else "RandomErasing after %s" % pipeline.floating
        raise ValueError("%s with dtype uint8: values stay 0 to 255; use a float type, or leave it out" % what)
    return dtype


def compile_into(options, pipeline):
    """Sets a Pipeline on a _core.ImageLoaderOptions. Raises ValueError for arguments that are not served."""
    _set_geometry(options, pipeline.geometry)
    options.flip = pipeline.flip
    for step in pipeline.pixels:
        _ADDERS[type(step).__name__](options, step)
    if not pipeline.scale:
        options.scale = 1.0
    if pipeline.normalize is not None:
        options.normalise(*pipeline.normalize)
    if pipeline.erasing is not None:
        _add_erasing(options, pipeline.erasing, finished=True)


def _flat(transforms):
    if type(transforms).__name__ == "Compose":
        transforms = transforms.transforms
    elif not isinstance(transforms, (list, tuple)):
        transforms = [transforms]
    for step in transforms:
        if type(step).__name__ == "Compose" or isinstance(step, (list, tuple)):
            yield from _flat(step)
        else:
            yield step


def _place_geometry(pipeline, name, step):
    done = [type(other).__name__ for other in pipeline.geometry]
    later = [type(other).__name__ for other in pipeline.pixels] + ([pipeline.floating] if pipeline.floating else [])
    if later and name not in done:
        raise ValueError("%s after %s; a picture gets its size first, put %s before" % (name, later[-1], name))
    if [*done, name] not in _GEOMETRIES:
        raise ValueError(
            "transforms %s; use RandomResizedCrop, or Resize (and CenterCrop), each once" % ", ".join([*done, name])
        )
    pipeline.geometry.append(step)


def _place_flip(pipeline, name, step):
    if pipeline.flip:
        raise ValueError("%s twice; use it once" % name)
    for pad in pipeline.pixels:
        if type(pad).__name__ == "Pad" and len({_borders(pad)[0], _borders(pad)[2]}) == 2:
            raise ValueError("%s after a Pad with other borders left than right; put it before the Pad" % name)
    pipeline.flip = step.p


def _place_pixels(pipeline, name, step):
    if pipeline.floating:
        raise ValueError("%s after %s; it changes 8-bit pixels here, put it before" % (name, pipeline.floating))
    if not pipeline.geometry:
        raise ValueError("%s before the picture has its size; put it after RandomResizedCrop or Resize" % name)
    pipeline.pixels.append(step)


def _place_dtype(pipeline, name, step):
    dtype = "" if name == "ToTensor" else _dtype_name(step.dtype)
    if dtype is None:
        return
    if dtype == "uint8":
        if pipeline.floating:
            raise ValueError("%s to uint8 after %s; leave both out, or this one" % (name, pipeline.floating))
        return
    if not pipeline.floating:
        pipeline.scale = getattr(step, "scale", True)
        pipeline.floating = name
    pipeline.dtype = dtype or pipeline.dtype


def _place_normalize(pipeline, name, step):
    if pipeline.normalize is not None:
        raise ValueError("%s twice; use it once" % name)
    mean, std = _three(step.mean, "mean"), _three(step.std, "std")
    if pipeline.erasing is not None:
        values = _erased(pipeline.erasing)
        if values is None:
            raise ValueError("RandomErasing with value 'random' before Normalize; put it after")
        # In float32, each operation rounded, as the pixels around it.
        values = [
            _float32(_float32(_float32(value) - _float32(m)) / _float32(s)) for value, m, s in zip(values, mean, std)
        ]
        pipeline.erasing = dataclasses.replace(_read_erasing(pipeline.erasing), value=tuple(values))
    pipeline.floating = pipeline.floating or name
    pipeline.normalize = mean, std


def _place_erasing(pipeline, name, step):
    if not pipeline.floating:
        if _erased(step) is None:
            raise ValueError("%s with value 'random' in 8-bit pixels; put it after ToDtype or Normalize" % name)
        _place_pixels(pipeline, name, step)
    elif pipeline.erasing is not None:
        raise ValueError("%s twice after %s; use it once there" % (name, pipeline.floating))
    else:
        pipeline.erasing = step


_PLACES = {
    "CenterCrop": _place_geometry,
    "ColorJitter": _place_pixels,
    "ConvertImageDtype": _place_dtype,
    "Normalize": _place_normalize,
    "Pad": _place_pixels,
    "RandomErasing": _place_erasing,
    "RandomGrayscale": _place_pixels,
    "RandomHorizontalFlip": _place_flip,
    "RandomResizedCrop": _place_geometry,
    "Resize": _place_geometry,
    "ToDtype": _place_dtype,
    "ToTensor": _place_dtype,
}


def _set_geometry(options, steps):
    main, crop = steps[0], steps[1] if len(steps) > 1 else None
    filters = type(options.filter).__members__
    name = getattr(main.interpolation, "value", main.interpolation)  # torchvision's is an enumeration
    if name not in filters:
        raise ValueError("interpolation %r; use 'bilinear' or 'bicubic'" % (name,))
    options.filter = filters[name]
    if getattr(main, "max_size", None) is not None:
        raise ValueError("Resize with max_size is not done here; use Resize(size) and CenterCrop(size)")
    if getattr(main, "antialias", True) is False:
        raise ValueError("resizing without antialiasing is not done here; use antialias=True, as Pillow does")
    if type(main).__name__ == "RandomResizedCrop":
        height, width = _pair(main.size)
        options.random_resized_crop(height, width, tuple(main.scale), tuple(main.ratio))
        return
    size = list(main.size) if isinstance(main.size, (list, tuple)) else [main.size]
    if len(size) == 1 and crop is None:
        raise ValueError(
            "Resize(%d) alone leaves pictures of different shapes; add CenterCrop, or give two sizes" % size[0]
        )
    if len(size) == 1:
        options.resize_center_crop(size[0], (0, 0), _pair(crop.size))
    else:
        options.resize_center_crop(0, tuple(size), _pair(crop.size) if crop else tuple(size))


def _add_pad(options, step):
    modes = sys.modules[type(options).__module__].ImagePadMode.__members__
    if step.padding_mode not in modes:
        raise ValueError("padding_mode %r; use one of %s" % (step.padding_mode, ", ".join(modes)))
    fill = 0 if step.fill is None else step.fill
    if isinstance(fill, dict):
        fill = _of_images(fill) or 0
    fill = _numbers(fill)
    fill = fill * 3 if len(fill) == 1 else fill
    if len(fill) != 3 or any(value != int(value) or not 0 <= value <= 255 for value in fill):
        raise ValueError("a fill of %r; it is one whole number from 0 to 255, or three" % (step.fill,))
    options.pad(_borders(step), tuple(int(value) for value in fill), modes[step.padding_mode])


def _borders(step):
    given = _numbers(step.padding)
    if len(given) not in (1, 2, 4) or any(value != int(value) or not 0 <= value <= 16384 for value in given):
        raise ValueError("a padding of %r; it is one, two or four numbers of pixels, 0 to 16384" % (step.padding,))
    left, top, right, bottom = {1: given * 4, 2: given * 2, 4: given}[len(given)]
    return int(left), int(top), int(right), int(bottom)


def _add_color_jitter(options, step):
    def ends(name, centre, least):
        value = getattr(step, name)
        if value is None or isinstance(value, (list, tuple)):
            return None if value is None else tuple(float(end) for end in value)
        if value < 0:
            raise ValueError("a %s of %r; one number is at least 0" % (name, value))
        return None if value == 0 else (max(centre - value, least), centre + value)

    factors = [ends(name, 1.0, 0.0) for name in ("brightness", "contrast", "saturation")]
    options.color_jitter(*factors, ends("hue", 0.0, -1.0))


def _add_grayscale(options, step):
    options.random_grayscale(step.p)


def _add_erasing(options, step, finished=False):
    options.random_erasing(step.p, tuple(step.scale), tuple(step.ratio), _erased(step), finished)


_ADDERS = {
    "ColorJitter": _add_color_jitter,
    "Pad": _add_pad,
    "RandomErasing": _add_erasing,
    "RandomGrayscale": _add_grayscale,
}


def _read_erasing(step):
    from .transforms import RandomErasing

    return RandomErasing(step.p, tuple(step.scale), tuple(step.ratio), step.value)


def _erased(step):
    """Three values, or None for random ones, which torchvision keeps as None or as a word."""
    if step.value is None or step.value == "random":
        return None
    values = _numbers(step.value)
    values = values * 3 if len(values) == 1 else values
    if len(values) != 3:
        raise ValueError("RandomErasing with a value of %r; it is one number, three, or 'random'" % (step.value,))
    return tuple(float(value) for value in values)


def _dtype_name(dtype):
    if isinstance(dtype, dict):
        dtype = _of_images(dtype)
    if dtype is None:
        return None
    name = str(dtype).replace("torch.", "")
    if name not in ("uint8", "float32", "float16", "bfloat16"):
        raise ValueError("ToDtype to %s; use float32, float16 or bfloat16" % name)
    return name


def _of_images(by_kind):
    """torchvision's arguments may be dictionaries by what they are for."""
    named = {getattr(kind, "__name__", kind): value for kind, value in by_kind.items()}
    return next((named[kind] for kind in ("Image", "Tensor", "others") if kind in named), None)


def _numbers(value):
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _pair(size):
    sizes = _numbers(size)
    return (sizes[0], sizes[-1])


def _three(values, what):
    values = tuple(float(value) for value in values)
    if len(values) != 3:
        raise ValueError("a %s of %d values; pictures are RGB, so it has 3" % (what, len(values)))
    return values


def _float32(value):
    return struct.unpack("f", struct.pack("f", value))[0]
