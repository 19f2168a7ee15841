"""Writes small files in other programs' formats, and what is in them: python files.py"""
import csv
import gzip
import io
import json
import struct
import tarfile
import wave

from PIL import Image

want = {}
# IDX as of http://yann.lecun.com/exdb/mnist: magic 0 0 type rank, big-endian sizes and elements.
for name, code, form, values in [("u8", 8, "B", [0, 1, 127, 128, 254, 255]), ("i8", 9, "b", [0, 1, -1, -128, 127, 5]), ("i16", 11, "h", [0, 1, -1, -32768, 32767, 258]),
                                 ("i32", 12, "i", [0, 1, -1, -(1 << 31), (1 << 31) - 1, 66051]), ("f32", 13, "f", [0, 1.5, -2.25, 1e10, -1, 3]), ("f64", 14, "d", [0, 0.1, -2.25, 1e100, -1, 3])]:
    b = struct.pack(">BBBB2i", 0, 0, code, 2, 2, 3) + struct.pack(">6" + form, *values)
    (gzip.open if name == "u8" else open)("idx-%s%s" % (name, ".gz" if name == "u8" else ""), "wb").write(b)
    want["idx-" + name] = struct.unpack(">6" + form, struct.pack(">6" + form, *values))
samples = [[0, 0], [0.5, -0.5], [-1, 0.25], [0.75, -0.125]]  # frames of two channels
for width in (1, 2, 3, 4):
    with wave.open("sound%d.wav" % (8 * width), "wb") as w:
        w.setnchannels(2)
        w.setsampwidth(width)
        w.setframerate(8000)
        for frame in samples:
            for x in frame:
                n = int(x * (1 << (8 * width - 1)))
                w.writeframes(bytes([n + 128]) if width == 1 else n.to_bytes(width, "little", signed=True))
want["wav"] = [list(c) for c in zip(*samples)]
with open("cifar.bin", "wb") as f:  # label, 1024 red, 1024 green, 1024 blue
    for k in range(2):
        f.write(bytes([7 + k]) + bytes((k * 31 + i * 7 + i // 256) % 256 for i in range(3072)))
with open("table.csv", "w", newline="") as f:
    csv.writer(f).writerows([["name", "x", "y"], ["a, b", 1, 2.5], ['say "c"', "", -3], ["d\ne", 1e3, "nan"]])
json.dump(want, open("files.json", "w"))
with tarfile.open("shard.tar", "w", format=tarfile.USTAR_FORMAT) as t:  # three pictures with labels
    for i in range(3):
        png = io.BytesIO()
        Image.new("RGB", (4, 3), (i * 80, 10, 200)).save(png, "PNG")
        for name, content in ((f"{i:04d}.png", png.getvalue()), (f"{i:04d}.cls", str(i).encode())):
            h = tarfile.TarInfo(name)
            h.size = len(content)
            t.addfile(h, io.BytesIO(content))
