"""Makes the tokenizers and results that the tests compare with, by Hugging Face's library.

    python make.py                  # trains tokenizers, writes them, lines.json and results.json here
    python make.py DIR [LINES]      # results for LINES lines (100,000) into DIR, for WEFT_TOKENIZERS=DIR go test
    python make.py show KIND LINES TEXTLINE   # what the library gives for one line of DIR's, to see a difference

Needs tokenizers 0.23.3, sentencepiece 0.2.3 and transformers 5.24.0.
"""
import base64
import gzip
import hashlib
import io
import json
import random
import re
import sys
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, processors, trainers
from tokenizers import pre_tokenizers as pre

HERE = Path(__file__).parent

# Openings and sayings, all by authors long dead or by nobody in particular.
SENTENCES = """
Call me Ishmael. Some years ago, never mind how long precisely, I thought I would sail about a little.
It is a truth universally acknowledged, that a single man in possession of a good fortune, must be in want of a wife.
It was the best of times, it was the worst of times; it was the age of wisdom, it was the age of foolishness.
"Oh dear! Oh dear! I shall be too late!" said the Rabbit, and took a watch out of its waistcoat-pocket.
We're sure they'll say it isn't ours; I've read what you'd written, and he's read what I'm reading.
All happy families are alike; each unhappy family is unhappy in its own way.
In 1815, M. Charles-Francois-Bienvenu Myriel was Bishop of D--; he was about 75 years of age.
The price rose from $1,234.56 to $98,765 (a rise of 7,900 %) between 12:30 and 18:45 on 03/07/1899.
func main() {\tfmt.Println("hello, world") }\t// a comment: x[i] += 2*y - 1 != 0
En un lugar de la Mancha, de cuyo nombre no quiero acordarme, no ha mucho tiempo que vivía un hidalgo.
Longtemps, je me suis couché de bonne heure. L'été était passé; où êtes-vous, maître, près de l'île?
Als Gregor Samsa eines Morgens aus unruhigen Träumen erwachte, fand er sich in seinem Bett. Größe, Straße, ÄÖÜ.
Nel mezzo del cammin di nostra vita mi ritrovai per una selva oscura, ché la diritta via era smarrita.
Todos os dias são iguais; amanhã não haverá pão, coração, nem ação.
Bakit kaya ganito? Mọi người đều có quyền. Trăm năm trong cõi người ta, chữ tài chữ mệnh khéo là ghét nhau.
Litwo! Ojczyzno moja! ty jesteś jak zdrowie; ile cię trzeba cenić, ten tylko się dowie, kto cię stracił.
Příliš žluťoučký kůň úpěl ďábelské ódy. Árvíztűrő tükörfúrógép. Iğdır'da ılık bir İstanbul günü.
Все счастливые семьи похожи друг на друга, каждая несчастливая семья несчастлива по-своему. Ёлка, подъезд.
Реве та стогне Дніпр широкий, сердитий вітер завива. Їжак, ґанок.
Ἄνδρα μοι ἔννεπε, Μοῦσα, πολύτροπον, ὃς μάλα πολλὰ πλάγχθη. Ο ΣΟΦΟΣ ΠΑΠΠΟΥΣ.
בְּרֵאשִׁית בָּרָא אֱלֹהִים אֵת הַשָּׁמַיִם וְאֵת הָאָרֶץ. שלום לכולם
الخيل والليل والبيداء تعرفني والسيف والرمح والقرطاس والقلم. السَّلَامُ عَلَيْكُمْ ١٢٣٤
بنی آدم اعضای یک پیکرند، که در آفرینش ز یک گوهرند. نمی‌دانم ۱۲۳
धर्मक्षेत्रे कुरुक्षेत्रे समवेता युयुत्सवः। सत्यमेव जयते नानृतं क्ष त्र ज्ञ १२३
আমার সোনার বাংলা, আমি তোমায় ভালোবাসি। চিরদিন তোমার আকাশ
அகர முதல எழுத்தெல்லாம் ஆதி பகவன் முதற்றே உலகு.
ఆంధ్ర దేశము. ಕನ್ನಡ ನಾಡು. മലയാളം ഭാഷ. ગુજરાતી ભાષા. ਪੰਜਾਬੀ ਬੋਲੀ. සිංහල භාෂාව.
ไม้งามกระรอกเจาะ กำขี้ดีกว่ากำตด น้ำขึ้นให้รีบตัก ๑๒๓
ລາວ ພາສາ. မြန်မာ ဘာသာ. ភាសា ខ្មែរ. བོད་ཡིག
学而时习之，不亦说乎？有朋自远方来，不亦乐乎？人不知而不愠，不亦君子乎？
道可道，非常道。名可名，非常名。臺灣與漢字：「龍飛鳳舞」、《紅樓夢》。
いづれの御時にか、女御、更衣あまたさぶらひたまひけるなかに。吾輩は猫である。コーヒーを飲む。ｶﾞｷﾞｸﾞ １２３ ㌔
나 보기가 역겨워 가실 때에는 말없이 고이 보내 드리우리다. 훈민정음 가각갂
ვის გვადარეს? ქართული ენა. Հայերեն լեզու. አማርኛ ቋንቋ. ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ. ᠮᠣᠩᠭᠣᠯ
x² + y³ ≠ ½ ∑∫√∞ → ⇒ ∀∃ ℵ ℝ ① Ⅷ ﬁ ﬂ ™ © ® € £ ¥ № … – — “quoted” ‘single’ «guillemets»
👩‍👩‍👧‍👦 👍🏽 🇩🇪🇫🇷 ❤️ 🏳️‍🌈 ☕ 1️⃣ 😀😃 🤷🏿‍♀️ ✈️
""".strip().split("\n")

SPECIAL = ["<s>", "</s>", "<unk>", "<pad>", "<mask>", "[CLS]", "[SEP]", "[MASK]", "[UNK]", "<|endoftext|>", "<|begin_of_text|>",
           "<|startoftranscript|>", "<extra_id_0>", " <mask> ", "\u3000<mask>", "widget", "Widget", "WIDGET", "<0x41>", "<0xE4>"]


def rand_chars(r):
    """A few characters of one sort."""
    n = r.randint(1, 6)
    pick = lambda *ranges: "".join(chr(r.randint(*r.choice(ranges))) for _ in range(n))
    return r.choice([
        lambda: pick((0x20, 0x7E)), lambda: pick((0x21, 0x2F), (0x3A, 0x40), (0x5B, 0x60), (0x7B, 0x7E)),
        lambda: pick((0x30, 0x39)), lambda: pick((0, 0x1F), (0x7F, 0x9F)),
        lambda: pick((0xA0, 0x24F)), lambda: pick((0x250, 0x3FF)), lambda: r.choice("aeiounAEcs") + pick((0x300, 0x36F)),
        lambda: pick((0x370, 0x52F)), lambda: pick((0x531, 0x7BF)), lambda: pick((0x900, 0xDFF)), lambda: pick((0xE00, 0x109F)),
        lambda: pick((0x10A0, 0x1CFF)), lambda: pick((0x1100, 0x11FF)), lambda: pick((0x1D00, 0x1FFF)),
        lambda: pick((0x2000, 0x206F)), lambda: pick((0x2070, 0x2BFF)), lambda: pick((0x2C00, 0x2FFF)),
        lambda: pick((0x3000, 0x33FF)), lambda: pick((0x3400, 0x9FFF)), lambda: pick((0xA000, 0xABFF)), lambda: pick((0xAC00, 0xD7AF)),
        lambda: pick((0xE000, 0xE0FF), (0xF900, 0xFDFF)), lambda: pick((0xFE00, 0xFFFF)), lambda: pick((0x10000, 0x1FFFF)),
        lambda: pick((0x1F000, 0x1FAFF)), lambda: pick((0x20000, 0x323AF)), lambda: pick((0xE0000, 0x10FFFF)),
        lambda: "".join(r.choice(["👩", "👨", "🏽", "\u200d", "\ufe0f", "🇩", "🇪", "❤", "क", "\u094d", "ष", "ि", "각", "ᄀ", "ᅡ", "ᆨ"]) for _ in range(n)),
        lambda: r.choice([" ", "  ", "   ", "\t", "\n", "\r\n", " \n \n", "\u00a0", "\u3000", "\u2003 ", "\u200b", "\u2028", "\x85"]) * r.randint(1, 3),
        lambda: "'" + r.choice(["s", "S", "ſ", "t", "re", "RE", "Ve", "m", "LL", "ll", "d", "x", "rE"]),
        lambda: r.choice(SPECIAL),
        lambda: r.choice("abcxyz漢é") * r.randint(1, 120),
        lambda: "▁" * r.randint(1, 3),
    ])()


def make_lines(n, seed=1):
    """n lines: the sentences, parts of them mixed, cased and damaged, and random characters. No two seeds share lines."""
    r = random.Random(seed)
    lines = list(SENTENCES) + ["", " ", "a", "'", "\n", "\u0301", "  two  spaces  "]
    words = [w for s in SENTENCES for w in s.split(" ")]
    while len(lines) < n:
        kind = r.random()
        if kind < 0.45:  # words of all languages
            s = " ".join(r.choice(words) for _ in range(r.randint(1, 14)))
        elif kind < 0.6:  # a part of a sentence
            t = r.choice(SENTENCES)
            a = r.randrange(len(t))
            s = t[a:a + r.randint(1, 80)]
        elif kind < 0.8:
            s = "".join(r.choice([lambda: rand_chars(r), lambda: r.choice(words), lambda: " "])() for _ in range(r.randint(1, 16)))
        else:
            s = "".join(rand_chars(r) for _ in range(r.randint(1, 10)))
        case = r.random()
        if case < 0.08:
            s = s.upper()
        elif case < 0.14:
            s = s.title()
        if r.random() < 0.1:
            s = s.replace(" ", r.choice(["  ", "\t", "\n", " \n", "\u00a0"]))
        lines.append(s.encode("utf-8", "replace").decode("utf-8"))  # no lone surrogates
    return lines[:n]


def train(model, trainer, normalizer=None, pre_tokenizer=None, decoder=None, post=None):
    t = Tokenizer(model)
    if normalizer:
        t.normalizer = normalizer
    if pre_tokenizer:
        t.pre_tokenizer = pre_tokenizer
    if decoder:
        t.decoder = decoder
    unigram = isinstance(model, models.Unigram)  # whose vocabulary must hold every character that it sees
    t.train_from_iterator(SENTENCES[:20] * 3 if unigram else SENTENCES * 3 + make_lines(400, 2), trainer)
    if post:
        t.post_processor = post(t)
    return t


def template(single, pair, *tokens):
    return lambda t: processors.TemplateProcessing(single=single, pair=pair, special_tokens=[(s, t.token_to_id(s)) for s in tokens])


GPT4 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
O200K = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|" \
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|" \
        r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
CLIP = r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"


def byte_bpe(n, special, **kw):
    return trainers.BpeTrainer(vocab_size=n, special_tokens=special, initial_alphabet=pre.ByteLevel.alphabet(), show_progress=False, **kw)


def charsmap():
    """The rules nmt_nfkc as sentencepiece writes them into its models."""
    import sentencepiece
    from sentencepiece import sentencepiece_model_pb2 as pb
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(SENTENCES * 3), model_writer=out, vocab_size=1200,
                                             normalization_rule_name="nmt_nfkc", hard_vocab_limit=False, minloglevel=2)
    m = pb.ModelProto.FromString(out.getvalue())
    return m.normalizer_spec.precompiled_charsmap


def precompiled(rules):
    return normalizers.Precompiled(rules)


def kinds():
    rules = charsmap()
    bert_special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    bert_post = template("[CLS] $A [SEP]", "[CLS] $A [SEP] $B:1 [SEP]:1", "[CLS]", "[SEP]")
    wordpiece = lambda n: trainers.WordPieceTrainer(vocab_size=n, special_tokens=bert_special, show_progress=False)
    out = {}
    out["bert"] = train(models.WordPiece(unk_token="[UNK]"), wordpiece(1100), normalizers.BertNormalizer(), pre.BertPreTokenizer(),
                        decoders.WordPiece(), bert_post)
    t = out["bert-cased"] = train(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=20), wordpiece(1000),
                                  normalizers.BertNormalizer(lowercase=False), pre.BertPreTokenizer(), decoders.WordPiece(cleanup=False),
                                  lambda t: processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2)))
    t = out["minilm"] = Tokenizer.from_str(out["bert"].to_str())
    t.enable_truncation(16, stride=3)
    t.enable_padding(length=16, pad_token="[PAD]")
    out["gpt2"] = train(models.BPE(), byte_bpe(900, ["<|endoftext|>"]), None, pre.ByteLevel(add_prefix_space=False), decoders.ByteLevel(),
                        lambda t: processors.ByteLevel(trim_offsets=False))
    t = out["roberta"] = train(models.BPE(), byte_bpe(800, ["<s>", "<pad>", "</s>", "<unk>"]), None, pre.ByteLevel(), decoders.ByteLevel(),
                               lambda t: processors.RobertaProcessing(("</s>", 2), ("<s>", 0)))
    t.add_special_tokens([AddedToken("<mask>", lstrip=True, special=True)])
    t.add_tokens([AddedToken("widget", single_word=True)])
    byte_tokens = ["<0x%02X>" % b for b in range(256)]
    llama_norm = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    llama_decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    t = out["llama2"] = train(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True), trainers.BpeTrainer(
        vocab_size=1300, special_tokens=["<unk>", "<s>", "</s>"] + byte_tokens, limit_alphabet=200, show_progress=False, max_token_length=12),
        llama_norm, None, llama_decoder, template("<s> $A", "<s> $A <s>:1 $B:1", "<s>"))
    without = json.loads(t.to_str())  # byte tokens are not added tokens in published files
    without["added_tokens"] = [a for a in without["added_tokens"] if not a["content"].startswith("<0x")]
    out["llama2"] = Tokenizer.from_str(json.dumps(without))
    gpt4 = pre.Sequence([pre.Split(Regex(GPT4), "isolated"), pre.ByteLevel(add_prefix_space=False, use_regex=False)])
    t = train(models.BPE(ignore_merges=True), byte_bpe(800, ["<|begin_of_text|>", "<|end_of_text|>"]), None, gpt4, decoders.ByteLevel(),
              lambda t: processors.Sequence([processors.ByteLevel(), processors.TemplateProcessing(
                  single="<|begin_of_text|> $A", pair="<|begin_of_text|> $A <|begin_of_text|>:1 $B:1", special_tokens=[("<|begin_of_text|>", 0)])]))
    data = json.loads(t.to_str())
    data["model"]["vocab"]["universally"] = len(data["model"]["vocab"])  # a word that no merge makes
    data["model"]["vocab"]["Ġstraße".replace("ß", "ÃŁ")] = len(data["model"]["vocab"])
    out["llama3"] = Tokenizer.from_str(json.dumps(data))
    out["o200k"] = train(models.BPE(), byte_bpe(500, []), None, pre.Sequence([pre.Split(Regex(O200K), "isolated"), pre.ByteLevel(False, use_regex=False)]),
                         decoders.ByteLevel())
    unigram = lambda n, special: trainers.UnigramTrainer(vocab_size=n, special_tokens=special, unk_token="<unk>", show_progress=False)
    t = out["t5"] = train(models.Unigram(), unigram(1000, ["<pad>", "</s>", "<unk>"]),
                          normalizers.Sequence([precompiled(rules), normalizers.Replace(Regex(" {2,}"), " ")]),
                          pre.Metaspace(), decoders.Metaspace(), template("$A </s>", "$A </s> $B </s>", "</s>"))
    t.add_special_tokens([AddedToken("<extra_id_0>", rstrip=True, lstrip=True, special=True)])
    t = out["xlmr"] = train(models.Unigram(), unigram(1100, ["<s>", "<pad>", "</s>", "<unk>"]), precompiled(rules),
                            pre.Sequence([pre.WhitespaceSplit(), pre.Metaspace()]), decoders.Metaspace(),
                            template("<s> $A </s>", "<s> $A </s> </s> $B </s>", "<s>", "</s>"))
    t.add_special_tokens([AddedToken("<mask>", lstrip=True, special=True, normalized=True)])
    whisper_special = ["<|endoftext|>", "<|startoftranscript|>", "<|en|>", "<|transcribe|>", "<|notimestamps|>"]
    out["whisper"] = train(models.BPE(unk_token=None), byte_bpe(700, whisper_special), None, pre.ByteLevel(add_prefix_space=False),
                           decoders.ByteLevel(), template("<|startoftranscript|> <|notimestamps|> $A:0 <|endoftext|>",
                                                          "<|startoftranscript|> <|notimestamps|> $A:0 $B:1 <|endoftext|>:1",
                                                          "<|startoftranscript|>", "<|notimestamps|>", "<|endoftext|>"))
    clip = pre.Sequence([pre.Split(Regex(CLIP), "removed", invert=True), pre.ByteLevel(add_prefix_space=False)])
    t = train(models.BPE(unk_token="<|endoftext|>", end_of_word_suffix="</w>", continuing_subword_prefix=""),
              byte_bpe(1100, ["<|startoftext|>", "<|endoftext|>"], end_of_word_suffix="</w>"),
              normalizers.Sequence([normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()]), clip,
              decoders.ByteLevel(), lambda t: processors.RobertaProcessing(("<|endoftext|>", 1), ("<|startoftext|>", 0), trim_offsets=False, add_prefix_space=False))
    data = json.loads(t.to_str())
    for c in sorted(pre.ByteLevel.alphabet()):  # as in CLIP's vocabulary, each byte also ends a word
        data["model"]["vocab"].setdefault(c + "</w>", len(data["model"]["vocab"]))
    out["clip"] = Tokenizer.from_str(json.dumps(data))
    out["clip"].decoder = decoders.Sequence([decoders.ByteLevel(), decoders.Replace("</w>", " ")])

    # Parts that none of these has.
    out["words"] = train(models.WordLevel(unk_token="<unk>"), trainers.WordLevelTrainer(vocab_size=500, special_tokens=["<unk>"], show_progress=False),
                         normalizers.Sequence([normalizers.NFKC(), normalizers.Strip(), normalizers.Lowercase()]),
                         pre.Sequence([pre.Whitespace(), pre.Digits(individual_digits=True)]))
    out["words"].add_tokens([AddedToken("Widget", normalized=True), AddedToken("abc", normalized=False, rstrip=True)])
    out["prefix"] = train(models.BPE(unk_token="<unk>", continuing_subword_prefix="##"), trainers.BpeTrainer(
        vocab_size=700, special_tokens=["<unk>"], limit_alphabet=120, continuing_subword_prefix="##", show_progress=False),
        normalizers.Sequence([normalizers.NFD(), normalizers.StripAccents(), normalizers.Nmt()]),
        pre.Sequence([pre.WhitespaceSplit(), pre.Punctuation("merged_with_previous")]), decoders.WordPiece())
    out["suffix"] = train(models.BPE(unk_token="<unk>", fuse_unk=True, end_of_word_suffix="</w>"), trainers.BpeTrainer(
        vocab_size=700, special_tokens=["<unk>"], limit_alphabet=120, end_of_word_suffix="</w>", show_progress=False),
        normalizers.NFKD(), pre.Sequence([pre.UnicodeScripts(), pre.Split(" ", "merged_with_next"), pre.FixedLength(7)]), decoders.BPEDecoder())
    data = json.loads(train(models.Unigram(), unigram(700, ["<unk>"]), normalizers.NFC(), pre.Metaspace(prepend_scheme="first", split=False),
                            decoders.Sequence([decoders.ByteFallback(), decoders.Metaspace(prepend_scheme="first")])).to_str())
    data["model"]["byte_fallback"] = True
    data["model"]["vocab"] += [[b, -20.0] for b in byte_tokens]
    out["unigram-bytes"] = Tokenizer.from_str(json.dumps(data))
    out["byte-normal"] = train(models.BPE(), byte_bpe(500, ["<s>"]), normalizers.ByteLevel(), pre.Split("Ġ", "merged_with_next"), decoders.ByteLevel())
    out["byte-normal"].add_tokens([AddedToken("été", normalized=True)])
    out["splits"] = train(models.WordLevel(unk_token="<unk>"), trainers.WordLevelTrainer(vocab_size=300, special_tokens=["<unk>"], show_progress=False),
                          normalizers.Sequence([normalizers.Strip(left=True, right=False), normalizers.Replace("e", "EE"), normalizers.Replace(Regex(r"[aou]{2}|\d+"), "")]),
                          pre.Sequence([pre.CharDelimiterSplit(","), pre.Digits(), pre.Punctuation("contiguous"),
                                        pre.Split(Regex(r"(?<=[a-z])(?=[A-Z])|\b\w(?!\w)|x+?y*"), "isolated"), pre.Metaspace(prepend_scheme="never")]),
                          decoders.CTC(pad_token="<unk>"))
    return out, rules


def canonical(e, parts=True):
    """The fields of an encoding as text. Overflowing parts of overflowing parts are repetitions, which we do not have."""
    rows = ["%d|%s|%d-%d|%s|%d|%d|%d" % (i, t, a, b, w, y, s, m) for i, t, (a, b), w, y, s, m in zip(
        e.ids, e.tokens, e.offsets, [-1 if w is None else w for w in e.word_ids], e.type_ids, e.special_tokens_mask, e.attention_mask)]
    return "\n".join(rows) + "".join("\n--\n" + canonical(o, False) for o in e.overflowing if parts)


def results(t, lines, i):
    """What is compared for line i: it alone, without special tokens, decoded, and now and then a pair that is cut."""
    e, plain = t.encode(lines[i]), t.encode(lines[i], add_special_tokens=False)
    out = [canonical(e), canonical(plain), t.decode(e.ids), t.decode(plain.ids, skip_special_tokens=False)]
    if i % 8 == 0:
        out.append(canonical(t.encode(lines[i], lines[(i + 1) % len(lines)])))
    if i % 8 == 1:
        had, padding = t.truncation, t.padding
        strategy, side = ["longest_first", "only_first"][i // 8 % 2], ["left", "right"][i // 16 % 2]
        t.enable_truncation(14, stride=2, strategy=strategy, direction=side)
        t.enable_padding(direction=side, pad_id=1, pad_type_id=1, pad_token="<p>", pad_to_multiple_of=5)
        try:
            out.append(canonical(t.encode(lines[i], lines[(i + 1) % len(lines)])))
        except BaseException:
            out.append("error")
        t.no_truncation()
        t.no_padding()
        if had:
            t.enable_truncation(**had)
        if padding:
            t.enable_padding(**padding)
    return out


def digest(t, lines, i):
    return hashlib.sha256("\0".join(results(t, lines, i)).encode()).hexdigest()[:12]


def load():
    rules = base64.b64encode(gzip.decompress((HERE / "charsmap.gz").read_bytes())).decode()
    for f in sorted(HERE.glob("*.json.gz")):
        yield f.name[:-8], Tokenizer.from_str(gzip.decompress(f.read_bytes()).decode().replace('"@charsmap"', json.dumps(rules)))


def write_gz(name, data):
    (HERE / name).write_bytes(gzip.compress(data, 9, mtime=0))


def main():
    if sys.argv[1:2] == ["show"]:
        lines = make_lines(int(sys.argv[3]), 7)
        t = dict(load())[sys.argv[2]]
        print("\0\n".join(results(t, lines, int(sys.argv[4]))))
        return
    if len(sys.argv) > 1:
        out, n = Path(sys.argv[1]), int((sys.argv[2:] or [100000])[0])
        out.mkdir(parents=True, exist_ok=True)
        lines = make_lines(n, 7)
        (out / "lines.json").write_text(json.dumps(lines))
        (out / "results.json").write_text(json.dumps({k: "".join(digest(t, lines, i) for i in range(n)) for k, t in load()}))
        return
    made, rules = kinds()
    encoded = base64.b64encode(bytes(rules)).decode()
    write_gz("charsmap.gz", bytes(rules))
    for name, t in made.items():
        data = json.dumps(json.loads(t.to_str()), ensure_ascii=False, separators=(",", ":"))
        write_gz(name + ".json.gz", data.replace(json.dumps(encoded), '"@charsmap"').encode())
    lines = make_lines(320, 3)
    (HERE / "lines.json").write_text(json.dumps(lines, ensure_ascii=False, indent=0) + "\n")
    (HERE / "results.json").write_text(json.dumps({k: "".join(digest(t, lines, i) for i in range(len(lines))) for k, t in load()}, indent=0) + "\n")


main()
