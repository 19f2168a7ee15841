"""Writes the .arrow files that file_test.go and types_test.go read, and lists.json and
types.json, what is in them: texts as lists of bytes, points and spans of time as integers.

Usage: python make_files.py                 (needs pyarrow and numpy)
       python make_files.py FILE...         prints as JSON what pyarrow reads from files
       python make_files.py types FILE...   prints their types
"""

import json
import sys

import numpy as np
import pyarrow as pa
import pyarrow.ipc as ipc


def table():
    ragged = [[1], [], [2, 3, 4], None, [5, None], [6, 7]]
    full = [[1], [], [2, 3, 4], [5], [6, 7, 8, 9], []]
    pairs = [[1, 2], [3, 4], [5, 6], [7, 8], [9, 10], [11, 12]]
    xy = [[{"x": v, "id": 10 * v, "at": [v, v + 1]} for v in item] for item in full]
    xy[4][1] = None
    xy[2][0]["x"] = None
    vectors = [[[v, v + 1, v + 2] for v in item] for item in full]
    vectors[0][0] = None
    vectors[2][1][2] = None
    return pa.table({
        "float": pa.array(full, pa.list_(pa.float32())),
        "large": pa.array(full, pa.large_list(pa.int64())),
        "fixed": pa.array(pairs, pa.list_(pa.float64(), 2)),
        "fixed null": pa.array([None, [1, None]] + pairs[:4], pa.list_(pa.uint16(), 2)),
        "nulls": pa.array(ragged, pa.list_(pa.int32())),
        "nested": pa.array([full[:3], [], full[3:], None, [[], None], [[1, 2]]], pa.list_(pa.large_list(pa.int16()))),
        "structs": pa.array(xy, pa.list_(pa.struct([("x", pa.float32()), ("id", pa.uint8()), ("at", pa.list_(pa.int8(), 2))]))),
        "flags": pa.array([[v % 2 == 0 if v is not None else None for v in item or []] for item in ragged], pa.list_(pa.bool_())),
        "half": pa.array([[np.float16(v) / 2 for v in item] for item in full], pa.list_(pa.float16())),
        "plain": pa.array([1, 2, None, 4, 5, 6], pa.uint32()),
        "view": pa.array(ragged, pa.list_view(pa.int64())),
        "vectors": pa.array(vectors, pa.list_(pa.list_(pa.float32(), 3))),
        "text": pa.array([["a"]] * 6, pa.list_(pa.string())),
        "when": pa.array([0] * 6, pa.timestamp("s")),
    })


class Number(pa.ExtensionType):
    """A number that Arrow has no type for, by the name that weft gives it."""

    def __init__(self, name, storage):
        super().__init__(storage, name)

    def __arrow_ext_serialize__(self):
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage, serialized):
        return cls("weft.complex64", storage)


COMPLEX = Number("weft.complex64", pa.list_(pa.float32(), 2))


def types():
    when = [0, 1, None, -1, 86_400_000, 1_700_000_000_000]
    words = ["one", "", None, "two words", "\u00e4\u20ac\U0001f642", "a text of more than twelve bytes"]
    raw = [None if w is None else w.encode() + b"\xff\x00" for w in words]
    nested = [words[:2], [], None, words[3:], [None], ["x"]]
    complexes = pa.ExtensionArray.from_storage(
        COMPLEX, pa.array([[1, 2], [3, -4], None, [0, 0.5], [5, 6], [7, 8]], pa.list_(pa.float32(), 2)))
    return pa.table({
        "string": pa.array(words),
        "large": pa.array(words, pa.large_string()),
        "binary": pa.array(raw),
        "large binary": pa.array(raw, pa.large_binary()),
        "strings": pa.array(nested, pa.list_(pa.string())),
        "view": pa.array(words, pa.string_view()),
        "binary view": pa.array(raw, pa.binary_view()),
        "bytes": pa.array([None if v is None else bytes([v % 7, 1, 2]) for v in when], pa.binary(3)),
        "list of bytes": pa.array([[b"ab", b"cd"], [], [b"ef"], None, [], []], pa.list_(pa.binary(2))),
        "words": pa.array(words).dictionary_encode(),
        "no words": pa.array([None] * 6, pa.string()).dictionary_encode(),
        "codes": pa.DictionaryArray.from_arrays(pa.array([1, 0, None, 1, 2, 2], pa.uint8()), pa.array([10, 20, 30], pa.int64())),
        "list of words": pa.ListArray.from_arrays([0, 2, 2, 3, 5, 5, 6], pa.array(words).dictionary_encode()),
        "stamp": pa.array(when, pa.timestamp("us", tz="Europe/Berlin")),
        "stamps": pa.array([when[:2], [], when[2:], None, [], []], pa.list_(pa.timestamp("ns"))),
        "date": pa.array([0, 1, None, -1, 3, 4], pa.date32()),
        "date64": pa.array([None if v is None else v // 86_400_000 * 86_400_000 for v in when], pa.date64()),
        "time": pa.array([0, 1, None, 86_399, 5, 6], pa.time32("s")),
        "time64": pa.array([0, 1, None, 86_399, 5, 6], pa.time64("ns")),
        "span": pa.array(when, pa.duration("ms")),
        "events": pa.array([[{"at": 1, "tag": b"x"}], [], [{"at": 2, "tag": b"y"}, {"at": None, "tag": b"z"}], [], None, []],
                           pa.list_(pa.struct([("at", pa.timestamp("s")), ("tag", pa.binary(1))]))),
        "complex": complexes,
        # What has no counterpart:
        "money": pa.array([1] * 6, pa.decimal128(10, 2)),
        "nothing": pa.nulls(6),
        "map": pa.array([[("a", 1)]] * 6, pa.map_(pa.string(), pa.int32())),
        "text in structs": pa.array([[{"id": 1, "name": "a"}]] * 6, pa.list_(pa.struct([("id", pa.int8()), ("name", pa.string())]))),
    })


def numbers(a):
    """The values of an array, or of chunks of one."""
    t = a.type
    if isinstance(a, pa.ChunkedArray):
        return [v for part in a.chunks for v in numbers(part)]
    if isinstance(a, pa.ExtensionArray):
        return numbers(a.storage)
    if pa.types.is_dictionary(t):
        return numbers(a.dictionary_decode())
    if pa.types.is_temporal(t):
        return a.view(pa.int32() if t.bit_width == 32 else pa.int64()).to_pylist()
    if isinstance(a, (pa.ListArray, pa.LargeListArray, pa.FixedSizeListArray, pa.ListViewArray)) and not pa.types.is_map(t):
        return [numbers(v.values) if v.is_valid else None for v in a]
    if pa.types.is_struct(t):
        fields = [numbers(a.field(i)) for i in range(t.num_fields)]
        return [{t.field(k).name: f[i] for k, f in enumerate(fields)} if v.is_valid else None for i, v in enumerate(a)]
    return [list(v.encode() if isinstance(v, str) else v) if isinstance(v, (str, bytes)) else v for v in a.to_pylist()]


def read(path):
    with ipc.open_file(path) as f:
        return [{name: numbers(rec.column(name)) for name in rec.schema.names} for rec in map(f.get_batch, range(f.num_record_batches))]


def kinds(path):
    with ipc.open_file(path) as f:
        return {field.name: str(field.type) for field in f.schema}


if sys.argv[1:2] == ["types"]:
    print(json.dumps([kinds(path) for path in sys.argv[2:]]))
    sys.exit()
if len(sys.argv) > 1:
    print(json.dumps([read(path) for path in sys.argv[1:]], default=str))
    sys.exit()

t = table()
for name, tables, compression in [
    ("lists", [t], None),
    ("lz4", [t], "lz4"),
    ("zstd", [t], "zstd"),
    ("batches", [t.slice(0, 2), t.slice(2, 0), t.slice(2, 4)], None),
]:
    with ipc.new_file(name + ".arrow", t.schema, options=ipc.IpcWriteOptions(compression=compression)) as out:
        for part in tables:
            for batch in part.combine_chunks().to_batches() or [pa.RecordBatch.from_pylist([], t.schema)]:
                out.write_batch(batch)
m = types()
with ipc.new_file("types.arrow", m.schema) as out:
    for part in (m.slice(0, 3), m.slice(3, 3)):  # the second has offsets, and repeats the dictionaries
        out.write_table(part.combine_chunks())
left_out = ("money", "nothing", "map", "text in structs")
for path, t in ("lists.json", t), ("types.json", m.drop_columns(left_out)):
    with open(path, "w") as out:
        json.dump({name: numbers(t.column(name)) for name in t.schema.names}, out)
        out.write("\n")
