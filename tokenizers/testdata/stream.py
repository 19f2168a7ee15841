"""Writes stream.json: what DecodeStream of Hugging Face's library gives for ids one by one, for kinds of make.py.

    python stream.py   # tokenizers 0.23.3
"""
import base64
import gzip
import json
from pathlib import Path

from tokenizers import Tokenizer
from tokenizers.decoders import DecodeStream

HERE = Path(__file__).parent
lines = [s for s in json.loads((HERE / "lines.json").read_text())[:60] if "\ufffd" not in s]
rules = base64.b64encode(gzip.decompress((HERE / "charsmap.gz").read_bytes())).decode()
out = {}
for kind in ("bert", "gpt2", "llama2", "t5", "clip"):
    t = Tokenizer.from_str(gzip.decompress((HERE / (kind + ".json.gz")).read_bytes()).decode().replace('"@charsmap"', json.dumps(rules)))
    rows = []
    for s in lines:
        ids = t.encode(s).ids
        stream = DecodeStream(skip_special_tokens=True)
        try:
            rows.append([ids, [stream.step(t, i) or "" for i in ids]])
        except Exception:  # bytes that were whole characters are not, with those that came after: the library gives up
            pass
    out[kind] = rows
(HERE / "stream.json").write_text(json.dumps(out, ensure_ascii=False, separators=(",", ":")) + "\n")
