"""Makes models of sentencepiece and the library's results on lines.json, which make.py writes: sentencepiece.json and
*.model.gz. The rules of nmt_nfkc are in charsmap.gz, which the tests add to the models that have them.

    python sentencepiece.py             # with sentencepiece 0.2.3
    python sentencepiece.py show MODEL LINE
"""
import gzip
import hashlib
import io
import json
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path = [p for p in sys.path if Path(p or ".").resolve() != HERE.resolve()]  # this file has the library's name

import sentencepiece as spm  # noqa: E402
from sentencepiece import sentencepiece_model_pb2 as pb  # noqa: E402

LINES = json.loads((HERE / "lines.json").read_text())
RULES = gzip.decompress((HERE / "charsmap.gz").read_bytes())

MODELS = {
    "sp-unigram": dict(model_type="unigram", vocab_size=1000, normalization_rule_name="nmt_nfkc", user_defined_symbols=["<sep>", "été"]),
    "sp-bpe": dict(model_type="bpe", vocab_size=1100, normalization_rule_name="identity", byte_fallback=True, character_coverage=0.98),
    "sp-llama": dict(model_type="bpe", vocab_size=900, normalization_rule_name="identity", byte_fallback=True, remove_extra_whitespaces=False,
                     split_digits=True, allow_whitespace_only_pieces=True, character_coverage=0.98, user_defined_symbols=["<sep>", "▁▁"]),
    "sp-suffix": dict(model_type="unigram", vocab_size=1000, normalization_rule_name="identity", treat_whitespace_as_suffix=True,
                      add_dummy_prefix=True, character_coverage=0.98),
    "sp-bare": dict(model_type="unigram", vocab_size=1200, normalization_rule_name="identity", byte_fallback=True, add_dummy_prefix=False,
                    remove_extra_whitespaces=False, character_coverage=0.98),
}


def train(options):
    out = io.BytesIO()
    spm.SentencePieceTrainer.train(sentence_iterator=iter(LINES[:37] * 3), model_writer=out, hard_vocab_limit=False, minloglevel=2,
                                   num_threads=1, **options)
    return pb.ModelProto.FromString(out.getvalue())


def results(sp, line):
    ids = sp.encode(line)
    return "\0".join([" ".join(map(str, ids)), sp.decode(ids)])


def processor(name):
    m = pb.ModelProto.FromString(gzip.decompress((HERE / (name + ".model.gz")).read_bytes()))
    if m.normalizer_spec.name == "nmt_nfkc":
        m.normalizer_spec.precompiled_charsmap = RULES
    return spm.SentencePieceProcessor(model_proto=m.SerializeToString())


def main():
    if sys.argv[1:2] == ["show"]:
        print(results(processor(sys.argv[2]), LINES[int(sys.argv[3])]).replace("\0", "\n"))
        return
    digests = {}
    for name, options in MODELS.items():
        m = train(options)
        if m.normalizer_spec.name == "nmt_nfkc":
            m.normalizer_spec.precompiled_charsmap = b""
        (HERE / (name + ".model.gz")).write_bytes(gzip.compress(m.SerializeToString(), 9, mtime=0))
        sp = processor(name)
        digests[name] = "".join(hashlib.sha256(results(sp, line).encode()).hexdigest()[:12] for line in LINES)
    (HERE / "sentencepiece.json").write_text(json.dumps(digests, indent=0) + "\n")


main()
