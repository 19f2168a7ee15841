"""Writes the Parquet files that read_test.go reads, and table.json, what pyarrow reads from them.

Usage: python make_files.py                 (needs pyarrow and numpy)
"""
import json
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

n = 7
some = [True, False, True, True, False, True, True]
null = lambda values: [v if s else None for v, s in zip(values, some)]
table = pa.table({
    "i8": pa.array(range(-3, 4), pa.int8()), "u8": pa.array(range(249, 256), pa.uint8()),
    "i16": pa.array(range(-3, 4), pa.int16()), "u16": pa.array(range(65529, 65536), pa.uint16()),
    "i32": pa.array(range(-3, 4), pa.int32()), "u32": pa.array(range(2**32 - 7, 2**32), pa.uint32()),
    "i64": pa.array(range(2**60, 2**60 + 7), pa.int64()), "u64": pa.array(range(2**64 - 7, 2**64), pa.uint64()),
    "f32": pa.array(np.linspace(0, 1, n), pa.float32()), "f64": pa.array(np.linspace(0, 1, n), pa.float64()),
    "f16": pa.array(np.linspace(0, 1, n).astype(np.float16), pa.float16()),
    "bool": pa.array(some), "text": pa.array(["", "a", "bc", "äöü", "a", "bc", "z"]),
    "null int": pa.array(null(range(n)), pa.int64()), "null float": pa.array(null([float(i) for i in range(n)]), pa.float32()),
    "null text": pa.array(null(list("abcdefg"))), "dict": pa.array(["x", "y", "x", "x", "y", "x", "x"]).dictionary_encode(),
    "date": pa.array([1, 2, 3, 4, 5, 6, 7], pa.date32()), "when": pa.array(range(n), pa.timestamp("us")),
    "money": pa.array([Decimal("1.25") + i for i in range(n)], pa.decimal128(9, 2)),
    "point": pa.array([{"x": i, "y": None if i == 2 else 2 * i} for i in range(n)], pa.struct([("x", pa.int32()), ("y", pa.int32())])),
})
lists = pa.table({
    "n": pa.array([1, 2, 3, 4]), "ints": pa.array([[1], [], [2, 3], [7]]), "null": pa.array([None, [1.5, None], [], [2.0]], pa.list_(pa.float32())),
    "fixed": pa.array([[i, i + 1] for i in range(4)], pa.list_(pa.field("element", pa.uint8(), nullable=False))),
    "point": pa.array([{"xs": [True] * i} for i in range(4)], pa.struct([("xs", pa.list_(pa.bool_()))])),
    "null int": pa.array([[1, None], [3], None, []]),
    "texts": pa.array([["a"], [], ["b"], []]), "deep": pa.array([[[1]], [], [[2], []], [[]]]),
})
for name, options in {"plain": dict(compression="none", use_dictionary=False, row_group_size=3), "snappy": dict(compression="snappy", row_group_size=4),
                      "zstd": dict(compression="zstd", version="2.6", data_page_version="2.0"), "gzip": dict(compression="gzip"),
                      "brotli": dict(compression="brotli")}.items():
    pq.write_table(table, f"{name}.parquet", store_decimal_as_integer=True, **options)
decimals = pa.table({f"d{p}": pa.array([Decimal(v) for v in ("-1.25", "0.01", "-0.01", "99999.99")] + [None, Decimal("-1234567890123456789012345678901234.56") if p == 38 else Decimal("7")],
                                       pa.decimal128(p, 2)) for p in (7, 9, 18, 38)})
pq.write_table(decimals, "decimals.parquet")
pq.write_table(lists, "lists.parquet", row_group_size=3)
as_json = lambda v: float(v) if isinstance(v, (Decimal, np.floating)) else v
want = {}
for name in table.column_names:
    column = table[name].cast(pa.int32()) if name == "date" else table[name].cast(pa.int64()) if name == "when" else table[name]
    values = column.to_pylist()
    if name == "point":
        want |= {f"point.{k}": [v[k] for v in values] for k in "xy"}
    elif name in ("i64", "u64"):
        want[name] = [str(v) for v in values]
    else:
        want[name] = [as_json(v) for v in values]
json.dump(want, open("table.json", "w"))
