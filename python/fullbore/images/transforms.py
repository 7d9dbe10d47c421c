"""What may be done to a picture, by torchvision's names and with its arguments.

A list of transforms is compiled into one pass in C++: the part of the picture that is seen, mirroring, normalising. The
transforms of torchvision itself are taken as well: they are known by the name of their class and read by the names of
their attributes, so a pipeline written for it moves over as it is.
"""

import dataclasses


@dataclasses.dataclass(frozen=True)
class RandomResizedCrop:
    """A random part of the picture, `scale` of its area and of a random `ratio` (width / height), made `size`.

    Ten tries at an area (uniform) and a ratio (uniform in its logarithm), then the largest centred part of a ratio that
    is allowed, as torchvision.transforms.RandomResizedCrop. Antialiased, with the pixels of Pillow's Image.resize.

    size: height and width, or one number for both
    interpolation: "bilinear" or "bicubic"
    """

    size: object
    scale: tuple = (0.08, 1.0)
    ratio: tuple = (3.0 / 4.0, 4.0 / 3.0)
    interpolation: str = "bilinear"


@dataclasses.dataclass(frozen=True)
class Resize:
    """The whole picture made `size`: one number is its shorter side afterwards, two are height and width."""

    size: object
    interpolation: str = "bilinear"


@dataclasses.dataclass(frozen=True)
class CenterCrop:
    """The centre of what Resize made, `size`: height and width, or one number for both."""

    size: object


@dataclasses.dataclass(frozen=True)
class RandomHorizontalFlip:
    """Mirrors left to right with probability `p`."""

    p: float = 0.5


@dataclasses.dataclass(frozen=True)
class Normalize:
    """(value / 255 - mean) / std for red, green and blue."""

    mean: tuple
    std: tuple


# Types and layouts are the loader's own arguments; these of torchvision say the same.
_ALREADY_DONE = {"ToTensor", "PILToTensor", "ToImage", "ToPureTensor", "ToDtype", "ConvertImageDtype"}


def compile_into(options, transforms):
    """Sets the transforms on a _core.ImageLoaderOptions. Raises ValueError for what is unknown or in another order."""
    steps = [step for step in _flat(transforms) if type(step).__name__ not in _ALREADY_DONE]
    names = [type(step).__name__ for step in steps]
    for name in names:
        if name not in ("RandomResizedCrop", "Resize", "CenterCrop", "RandomHorizontalFlip", "Normalize"):
            raise ValueError(
                "there is no transform %s here; known are RandomResizedCrop, Resize, CenterCrop, RandomHorizontalFlip "
                "and Normalize" % name
            )
    by_name = dict(zip(names, steps))
    order = [name for name in names if name != "RandomHorizontalFlip"]  # it gives the same wherever it stands
    if len(by_name) < len(names) or order not in _ORDERS:
        raise ValueError(
            "transforms %s; use RandomResizedCrop, or Resize (and CenterCrop), then Normalize, each once"
            % ", ".join(names or ["(none)"])
        )
    _set_geometry(options, by_name)
    if "RandomHorizontalFlip" in by_name:
        options.flip = by_name["RandomHorizontalFlip"].p
    if "Normalize" in by_name:
        options.normalise(_three(by_name["Normalize"].mean, "mean"), _three(by_name["Normalize"].std, "std"))
    return "Normalize" in by_name


def normalisation_of(transforms):
    """(the other transforms, mean, std); None for both without Normalize."""
    steps = list(_flat(transforms))
    mine = [step for step in steps if type(step).__name__ == "Normalize"]
    if len(mine) > 1:
        raise ValueError("transforms with Normalize %d times; use it once" % len(mine))
    rest = [step for step in steps if step not in mine]
    return (rest, _three(mine[0].mean, "mean"), _three(mine[0].std, "std")) if mine else (rest, None, None)


_GEOMETRIES = (["RandomResizedCrop"], ["Resize"], ["Resize", "CenterCrop"])
_ORDERS = [*_GEOMETRIES, *([*geometry, "Normalize"] for geometry in _GEOMETRIES)]


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


def _set_geometry(options, by_name):
    from fullbore import _core

    main = by_name.get("RandomResizedCrop") or by_name["Resize"]
    filters = {"bilinear": _core.ImageFilter.bilinear, "bicubic": _core.ImageFilter.bicubic}
    name = getattr(main.interpolation, "value", main.interpolation)  # torchvision's is an enumeration
    if name not in filters:
        raise ValueError("interpolation %r; use 'bilinear' or 'bicubic'" % (name,))
    options.filter = filters[name]
    if getattr(main, "max_size", None) is not None:
        raise ValueError("Resize with max_size is not done here; use Resize(size) and CenterCrop(size)")
    if getattr(main, "antialias", True) is False:
        raise ValueError("resizing without antialiasing is not done here; use antialias=True, as Pillow does")
    if "RandomResizedCrop" in by_name:
        height, width = _pair(main.size)
        options.random_resized_crop(height, width, tuple(main.scale), tuple(main.ratio))
        return
    size = list(main.size) if isinstance(main.size, (list, tuple)) else [main.size]
    crop = by_name.get("CenterCrop")
    if len(size) == 1 and crop is None:
        raise ValueError(
            "Resize(%d) alone leaves pictures of different shapes; add CenterCrop, or give two sizes" % size[0]
        )
    if len(size) == 1:
        options.resize_center_crop(size[0], (0, 0), _pair(crop.size))
    else:
        options.resize_center_crop(0, tuple(size), _pair(crop.size) if crop else tuple(size))


def _pair(size):
    sizes = list(size) if isinstance(size, (list, tuple)) else [size]
    return (sizes[0], sizes[-1])


def _three(values, what):
    values = tuple(float(value) for value in values)
    if len(values) != 3:
        raise ValueError("a %s of %d values; pictures are RGB, so it has 3" % (what, len(values)))
    return values
