"""Writes the .arrow files that file_test.go reads, and lists.json, what is in them.

Usage: python make_files.py           (needs pyarrow and numpy)
       python make_files.py FILE...   prints as JSON what pyarrow reads from files
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


def read(path):
    with ipc.open_file(path) as f:
        return [{name: rec.column(name).to_pylist() for name in rec.schema.names} for rec in map(f.get_batch, range(f.num_record_batches))]


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
with open("lists.json", "w") as out:
    json.dump({name: t.column(name).to_pylist() for name in t.schema.names if name not in ("text", "when")}, out)
    out.write("\n")
