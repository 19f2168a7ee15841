"""Makes the folders beside it with transformers, of random weights, and expected.json with what transformers
computes from them: python3 make.py

The networks are tiny. Weights are drawn wide, so that results differ much from input to input.
"""
import json
import os
import shutil

import numpy as np
import torch
import transformers as tf
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

HERE = os.path.dirname(os.path.abspath(__file__))
TEXTS = ["the cat sat on the mat", "a dog!", "where is the cat? the cat is on the mat, and the dog sat on the cat.", "unknown words häßlich"]
WORDS = "the cat sat on mat a dog is where and un ##know ##n words b c d e f g h ##s ##t i j k . , ! ?".split()


def folder(name):
    path = os.path.join(HERE, name)
    shutil.rmtree(path, ignore_errors=True)
    os.makedirs(path)
    return path


def wordpiece(path):
    vocab = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]
    t = Tokenizer(models.WordPiece({w: i for i, w in enumerate(vocab)}, unk_token="[UNK]"))
    t.normalizer = normalizers.BertNormalizer()
    t.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    t.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    t.decoder = decoders.WordPiece()
    f = tf.PreTrainedTokenizerFast(tokenizer_object=t, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]", mask_token="[MASK]", model_max_length=32)
    f.save_pretrained(path)
    return f, len(vocab)


def bytelevel(path):
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    merges = [("t", "h"), ("th", "e"), ("Ġ", "the"), ("Ġ", "c"), ("a", "t"), ("Ġc", "at")]
    vocab = alphabet + ["".join(m) for m in merges] + ["<|endoftext|>"]
    t = Tokenizer(models.BPE({w: i for i, w in enumerate(vocab)}, merges))
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    t.decoder = decoders.ByteLevel()
    f = tf.PreTrainedTokenizerFast(tokenizer_object=t, eos_token="<|endoftext|>", bos_token="<|endoftext|>")
    f.save_pretrained(path)
    return f, len(vocab)


def short(x):
    return [float(f"{v:.7g}") for v in x.detach().reshape(-1).tolist()]


def wide(m):
    torch.manual_seed(1)
    with torch.no_grad():
        for p in m.parameters():
            p.copy_(torch.randn(p.shape) * (0.4 if p.ndim > 1 else 0.1) + (1 if p.ndim == 1 and (p == 1).all() else 0))
    return m.eval()


BERT = dict(max_position_embeddings=32, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=24)
DISTIL = dict(max_position_embeddings=32, dim=16, n_layers=2, n_heads=2, hidden_dim=24)


def minilm():
    """As sentence-transformers writes it: pooling of means, then vectors of length 1."""
    path = folder("minilm")
    t, vocab = wordpiece(path)
    m = wide(tf.BertModel(tf.BertConfig(vocab_size=vocab, **BERT)))
    m.save_pretrained(path)
    put(path, "modules.json", [
        {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
        {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
        {"idx": 2, "name": "2", "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"}])
    put(path, "sentence_bert_config.json", {"max_seq_length": 12, "do_lower_case": False})
    os.makedirs(os.path.join(path, "1_Pooling"))
    put(path, "1_Pooling/config.json", {"word_embedding_dimension": 16, "pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True, "pooling_mode_max_tokens": False, "pooling_mode_mean_sqrt_len_tokens": False})
    x = t(TEXTS, padding=True, truncation=True, max_length=12, return_tensors="pt")
    x.pop("token_type_ids", None)
    h = m(**x).last_hidden_state
    mask = x["attention_mask"][:, :, None].float()
    return {"tokens": x["input_ids"].tolist(), "embeddings": short(torch.nn.functional.normalize((h * mask).sum(1) / mask.sum(1), dim=1))}


def classifier(name, cls, config):
    path = folder(name)
    t, vocab = wordpiece(path)
    labels = {0: "bad", 1: "good", 2: "neither"}
    m = wide(cls(config(vocab_size=vocab, id2label=labels, label2id={v: k for k, v in labels.items()}, **(BERT if config is tf.BertConfig else DISTIL))))
    m.save_pretrained(path)
    x = t(TEXTS, padding=True, return_tensors="pt")
    x.pop("token_type_ids", None)
    return {"probabilities": short(m(**x).logits.softmax(-1))}


def distil():
    path = folder("distilbert")
    t, vocab = wordpiece(path)
    m = wide(tf.DistilBertModel(tf.DistilBertConfig(vocab_size=vocab, **DISTIL)))
    m.save_pretrained(path)
    x = t(TEXTS, padding=True, return_tensors="pt")
    x.pop("token_type_ids", None)
    h = m(**x).last_hidden_state
    mask = x["attention_mask"][:, :, None].float()
    return {"embeddings": short((h * mask).sum(1) / mask.sum(1))}


def gpt2():
    """In shards, with their index."""
    path = folder("gpt2")
    t, vocab = bytelevel(path)
    m = wide(tf.GPT2LMHeadModel(tf.GPT2Config(vocab_size=vocab, n_positions=64, n_embd=16, n_layer=2, n_head=2, bos_token_id=vocab - 1, eos_token_id=vocab - 1)))
    m.save_pretrained(path, max_shard_size="16KB")
    x = t("the cat", return_tensors="pt")
    y = m.generate(**x, max_new_tokens=16, do_sample=False, pad_token_id=vocab - 1)[0, x["input_ids"].shape[1]:]
    return {"tokens": y.tolist(), "text": t.decode(y)}


def picture():
    y, x = np.mgrid[0:20, 0:30]
    return np.stack([(x * 8) % 256, (y * 12) % 256, (x * y) % 256], -1).astype(np.uint8)


def vit():
    path = folder("vit")
    m = wide(tf.ViTForImageClassification(tf.ViTConfig(hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=24, image_size=16, patch_size=8, num_labels=3,
                                                       id2label={0: "cat", 1: "dog", 2: "mat"}, label2id={"cat": 0, "dog": 1, "mat": 2})))
    m.save_pretrained(path)
    p = tf.ViTImageProcessor(size={"height": 16, "width": 16})
    p.save_pretrained(path)
    x = p(images=[picture()], return_tensors="pt", input_data_format="channels_last")
    return {"pixels": short(x["pixel_values"]), "probabilities": short(m(**x).logits.softmax(-1))}


SPECIAL = ["<|startoftranscript|>", "<|en|>", "<|de|>", "<|translate|>", "<|transcribe|>", "<|notimestamps|>"]


def whisper():
    """Sounds of one second at a time, so that the network is small."""
    path = folder("whisper")
    t, vocab = bytelevel(path)
    t.add_special_tokens({"additional_special_tokens": SPECIAL})
    t.save_pretrained(path)
    start, vocab = vocab, vocab + len(SPECIAL)
    c = tf.WhisperConfig(vocab_size=vocab, d_model=16, encoder_layers=1, decoder_layers=2, encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=24, decoder_ffn_dim=24,
                         num_mel_bins=20, max_source_positions=50, max_target_positions=24, pad_token_id=start - 1, bos_token_id=start - 1, eos_token_id=start - 1, decoder_start_token_id=start,
                         suppress_tokens=None, begin_suppress_tokens=None)
    m = wide(tf.WhisperForConditionalGeneration(c))
    g = m.generation_config
    g.is_multilingual, g.lang_to_id, g.task_to_id, g.no_timestamps_token_id = True, {"<|en|>": start + 1, "<|de|>": start + 2}, {"translate": start + 3, "transcribe": start + 4}, start + 5
    g.suppress_tokens, g.begin_suppress_tokens, g.decoder_start_token_id = [33, 34], [35], start
    m.save_pretrained(path)
    f = tf.WhisperFeatureExtractor(feature_size=20, chunk_length=1)
    f.save_pretrained(path)
    sounds = [np.sin(np.arange(n) ** 1.2 / 9).astype(np.float32) * 0.5 for n in (16000, 9000)]
    out = []
    for s in sounds:
        x = f(s, sampling_rate=16000, return_tensors="pt").input_features
        y = m.generate(x, language="en", task="transcribe", max_new_tokens=12, do_sample=False)[0]
        z = m.generate(x, task="transcribe", max_new_tokens=12, do_sample=False)[0]
        write = lambda task="transcribe": t.decode(m.generate(x, language="en", task=task, max_new_tokens=12, do_sample=False)[0], skip_special_tokens=True)
        last = {"features": short(x[0, ::3, ::7]), "text": t.decode(y, skip_special_tokens=True), "detected": t.decode(z, skip_special_tokens=True), "tokens": y.tolist(), "translated": write("translate")}
        first = [n for n in y.tolist() if n < start - 1][0]  # which is suppressed everywhere, or as the first alone
        g.suppress_tokens, g.begin_suppress_tokens = [first], [35]
        last["without"] = write()
        g.suppress_tokens, g.begin_suppress_tokens = [33, 34], [first]
        last["later"] = write()
        g.begin_suppress_tokens = [35]
        out.append(last)
    return out


def put(path, name, value):
    with open(os.path.join(path, name), "w") as f:
        json.dump(value, f, indent=2)


if __name__ == "__main__":
    out = {"texts": TEXTS, "minilm": minilm(), "bert": classifier("bert", tf.BertForSequenceClassification, tf.BertConfig),
           "distilbert": distil(), "distilbert-classifier": classifier("distilbert-classifier", tf.DistilBertForSequenceClassification, tf.DistilBertConfig),
           "gpt2": gpt2(), "vit": vit(), "whisper": whisper()}
    with open(os.path.join(HERE, "expected.json"), "w") as f:
        f.write("{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in out.items()) + "\n}\n")
