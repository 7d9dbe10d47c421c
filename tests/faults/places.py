"""Moves a recorded run to another place: every path in it that begins with one prefix begins with another afterwards. A
stored case must not say where, and by whom, it was recorded. Layouts: src/record/frame.h, src/wire/records.h."""

import json
import struct
import zlib

_HEADER = struct.Struct("<HHI")
_FRAME = struct.Struct("<6I")
_NAME = 1
_FRAME_MAGIC = 0x4D524642


def _hash(text):
    """FNV-1a 64, as names are identified."""
    value = 14695981039346656037
    for byte in text:
        value = (value ^ byte) * 1099511628211 % (1 << 64)
    return value


def _renamed(text, places):
    for here, there in places:
        text = text.replace(here.encode(), there.encode())
    return text


def _frames(content):
    at = 16
    while at < len(content):
        magic, pid, tid, _, stored, _ = _FRAME.unpack_from(content, at)
        if magic != _FRAME_MAGIC:
            raise ValueError("no frame at byte %d" % at)
        at += _FRAME.size
        yield pid, tid, zlib.decompress(content[at : at + stored])
        at += stored


def _records(raw):
    at = 0
    while at < len(raw):
        kind, size, _ = _HEADER.unpack_from(raw, at)
        yield kind, raw[at : at + size]
        at += size


def _name_record(record, places):
    """The record with its text renamed, and (old id, new id)."""
    old, length = struct.unpack_from("<QI", record, 8)
    text = _renamed(record[24 : 24 + length], places)
    new = _hash(text)
    padded = text + b"\0" * (-len(text) % 8)
    return _HEADER.pack(_NAME, 24 + len(padded), 0) + struct.pack("<QII", new, len(text), 0) + padded, (old, new)


def _moved(content, places):
    frames, ids = [], {}
    for pid, tid, raw in _frames(content):
        records = []
        for kind, record in _records(raw):
            if kind == _NAME:
                record, (old, new) = _name_record(record, places)
                ids[old] = new
            records.append((kind, record))
        frames.append((pid, tid, records))
    changed = {struct.pack("<Q", old): struct.pack("<Q", new) for old, new in ids.items() if old != new}
    out = [content[:16]]
    for pid, tid, records in frames:
        raw = b"".join(record if kind == _NAME else _with_ids(record, changed) for kind, record in records)
        stored = zlib.compress(raw, 1)
        fields = struct.pack("<4I", pid, tid, len(raw), len(stored))
        out += [
            struct.pack("<I", _FRAME_MAGIC),
            fields,
            struct.pack("<I", zlib.crc32(stored, zlib.crc32(fields))),
            stored,
        ]
    return b"".join(out)


def _with_ids(record, changed):
    """Ids are 64-bit hashes at multiples of 8 bytes: nothing else there looks like one."""
    words = [record[at : at + 8] for at in range(0, len(record), 8)]
    return b"".join([words[0]] + [changed.get(word, word) for word in words[1:]])


def move(folder, places):
    """`places`: [(prefix here, prefix there)], tried in order."""
    for file in [*folder.rglob("*.fbr")]:
        file.write_bytes(_moved(file.read_bytes(), places))
    for file in folder.rglob("*.json"):
        text = _renamed(file.read_bytes(), places).decode()
        json.loads(text)
        file.write_text(text)
