"""Decoding only the part of a JPEG that a crop needs, with the pixels of libjpeg-turbo and of Pillow's resize."""

from . import _core


def decode_jpeg(data, *, crop=None, size=None, filter="bilinear", flip=False, tolerant=False, checkpoints=None):
    """Decodes a JPEG file, or the part of it that a crop needs.

    data: the whole file, as bytes or any other buffer of bytes.
    crop: (top, left, height, width) in pixels, within the picture; None: the whole picture.
    size: (height, width) to which the crop is resampled, antialiased, as if the crop were the whole picture; None: as it
        is. The result is that of Pillow 12's `resize` (Pillow 13 takes the passes in the other order for some tall
        crops, and then differs by a level here and there).
    filter: "bilinear" or "bicubic", for size.
    flip: mirror left to right.
    tolerant: decode what is left of a damaged file, as libjpeg-turbo does when its warnings are ignored.
    checkpoints: of this very file, by `jpeg_checkpoints`: decoding then begins where the crop does.

    Returns a NumPy array, uint8, (height, width, 3), RGB; grayscale becomes RGB. CMYK files give (height, width, 4), as
    stored. `torch.from_numpy(array)` shares its memory. The GIL is not held meanwhile, so threads decode side by side.

    Raises ValueError with the reason if the file is damaged (and not `tolerant`), is of a kind that is not decoded (12
    bits, lossless), or if crop or size do not fit.
    """
    return _core.decode_jpeg(
        data, crop=crop, size=size, filter=filter, flip=flip, tolerant=tolerant, checkpoints=checkpoints
    )


def jpeg_header(data):
    """Size and kind of a JPEG without decoding it.

    data: the file's beginning up to its first scan, or all of it, as a buffer of bytes.

    Returns an object with height, width (pixels), components, channels (of the decoded picture), coding ("baseline",
    "extended", "progressive", "other") and native (False: libjpeg-turbo decodes it, whole pictures only).
    Raises ValueError if it is no JPEG.
    """
    return _core.jpeg_header(data)


def jpeg_checkpoints(data):
    """Places in a JPEG at which decoding can begin, for `decode_jpeg(checkpoints=)`.

    data: the whole file, as a buffer of bytes. Costs about as much as decoding it once.

    Returns bytes, about 0.65 % of the file; empty for pictures that cannot have any (progressive ones).
    Raises ValueError if the file is damaged.
    """
    return _core.jpeg_checkpoints(data)
