"""Lines of English encoded by Hugging Face's tokenizers."""
import base64
import gzip
import json
from pathlib import Path

from form import Form, Ready

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tokenizers" / "testdata"


def lines(n):
    """The first n lines of the guides that are not empty, again from the start where there are fewer."""
    found = [s for f in sorted((ROOT / "docs").glob("*.md")) for s in f.read_text().split("\n") if s]
    return [found[i % len(found)] for i in range(n)]


def tokenizer(kind):
    from tokenizers import Tokenizer

    rules = base64.b64encode(gzip.decompress((DATA / "charsmap.gz").read_bytes())).decode()
    return Tokenizer.from_str(gzip.decompress((DATA / f"{kind}.json.gz").read_bytes()).decode().replace('"@charsmap"', json.dumps(rules)))


def summary(encodings):
    return [sum(len(e) for e in encodings), sum(sum(e.ids) for e in encodings)]


def encode(kind, call):
    def make(n, dtype, threads):
        t, texts = tokenizer(kind), lines(n)
        run = getattr(t, call)
        return Ready("run(texts)", {"run": run, "texts": texts}, lambda: summary(run(texts)))

    return make


def forms(case):
    kind = case.split()[1]
    return [
        Form("encode_batch", "tokenizers", encode(kind, "encode_batch")),
        Form("encode_batch_fast", "tokenizers", encode(kind, "encode_batch_fast"), counts=False),  # without offsets
    ]


REGISTRY = {f"tokens {kind}": forms for kind in ("gpt2", "bert", "t5")}
