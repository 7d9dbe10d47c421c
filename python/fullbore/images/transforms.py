"""What may be done to a picture, by torchvision's names and with its arguments; pipeline.py makes one pass of them."""

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


@dataclasses.dataclass(frozen=True)
class Pad:
    """Borders around the picture, once it has its size.

    padding: pixels; one number, two (left and right, above and below) or four (left, above, right, below)
    fill: 0 to 255, one number or three, for "constant"
    padding_mode: "constant", "edge" (the outermost pixels), "reflect" or "symmetric" (mirrored without or with these)
    """

    padding: object
    fill: object = 0
    padding_mode: str = "constant"


@dataclasses.dataclass(frozen=True)
class ColorJitter:
    """Changes brightness, contrast, saturation and hue in a random order, with the pixels of Pillow.

    A number x stands for a factor from max(0, 1 - x) to 1 + x, for the hue for a turn from -x to x, at most 0.5 of the
    circle; a pair stands for itself, None for no change.
    """

    brightness: object = None
    contrast: object = None
    saturation: object = None
    hue: object = None


@dataclasses.dataclass(frozen=True)
class RandomGrayscale:
    """Gray in all three colours with probability `p`, by Pillow's weights."""

    p: float = 0.1


@dataclasses.dataclass(frozen=True)
class ToDtype:
    """The type of the values: "float32", "float16", "bfloat16", or torch's. `scale`: 0 to 255 becomes 0 to 1.

    What comes behind it is computed in float32 and rounded to `dtype` at the end.
    """

    dtype: object
    scale: bool = False


@dataclasses.dataclass(frozen=True)
class RandomErasing:
    """Overwrites a random part with probability `p`: `scale` of the area, of a random `ratio` (height / width).

    value: one number, three, or "random" for normally distributed ones. In the units of the place where it stands: 0 to
        255 before ToDtype and Normalize, where "random" is not to be had
    """

    p: float = 0.5
    scale: tuple = (0.02, 0.33)
    ratio: tuple = (0.3, 3.3)
    value: object = 0
