"""Writes torch.json: what each code of PyTorch's floats of 8 bits is, as text of float32. python3 torch.py"""
import json

import torch

out = {}
for name in ["float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu"]:
    x = torch.arange(256, dtype=torch.uint8).view(getattr(torch, name)).to(torch.float32)
    out[name] = ["nan" if v != v else repr(v) for v in x.tolist()]
with open("torch.json", "w") as f:
    f.write("{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in out.items()) + "\n}\n")
