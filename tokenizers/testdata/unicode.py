"""Writes ../unicode.bin: what each code point is to Hugging Face's tokenizers.

The library draws on several Unicode versions at once: normal forms are those of Unicode 9, categories of
punctuation and controls are older, those of regular expressions newer. So every table is measured on the library
itself. Grapheme clusters alone come from the module regex, with what joins a letter corrected by the library.

    python unicode.py   # with tokenizers 0.23.3 and regex; some minutes
"""
import struct
import unicodedata
from pathlib import Path

import regex
from tokenizers import Regex, normalizers, pre_tokenizers as pre

points = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
everything = "".join(map(chr, points))

CATEGORIES = "Cn Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Co".split()
CLUSTERS = "Other CR LF Control Extend ZWJ Regional_Indicator Prepend SpacingMark L V T LV LVT".split()
SPACE, NUMERIC, WORD, PUNCT, OTHER, NONSPACING, COMBINING, ONIG_SPACE, ONIG_WORD, PICTO, LINKER, CONSONANT, INEXTEND = (
    1 << k for k in range(10, 23))

flags = {c: 0 for c in points}


def matched(pattern):
    """The code points that a class of the library's regular expressions holds."""
    split = pre.Split(Regex(pattern + "+"), "removed", invert=True)
    for piece, _ in split.pre_tokenize_str(everything):
        yield from map(ord, piece)


def tested(flag, test):
    for c in points:
        if test(chr(c)):
            flags[c] |= flag


for k, name in enumerate(CATEGORIES):
    for c in matched(r"\p{%s}" % name) if name != "Cn" else ():
        flags[c] |= k
for c in matched(r"\s"):
    flags[c] |= ONIG_SPACE
for c in matched(r"\w"):
    flags[c] |= ONIG_WORD

space, digits, word = pre.WhitespaceSplit(), pre.Digits(True), pre.Whitespace()
punct = pre.Punctuation("removed")
tested(SPACE, lambda c: not space.pre_tokenize_str(c))
tested(NUMERIC, lambda c: len(digits.pre_tokenize_str("a" + c)) > 1)
tested(WORD, lambda c: len(word.pre_tokenize_str("a" + c)) == 1 and word.pre_tokenize_str(c) != [])
tested(PUNCT, lambda c: not punct.pre_tokenize_str(c))
clean = normalizers.BertNormalizer(True, False, False, False)
tested(OTHER, lambda c: clean.normalize_str("a" + c) == "a")
accents = normalizers.BertNormalizer(False, False, True, False)
tested(NONSPACING, lambda c: accents.normalize_str("a" + c) == "a")
strip = normalizers.StripAccents()
tested(COMBINING, lambda c: strip.normalize_str("a" + c) == "a")

for k, name in enumerate(CLUSTERS[1:], 1):
    for m in regex.finditer(r"\p{GCB=%s}" % name, everything):
        flags[ord(m[0])] |= k << 5
for flag, pattern in (PICTO, r"\p{Extended_Pictographic}"), (LINKER, r"\p{InCB=Linker}"), \
        (CONSONANT, r"\p{InCB=Consonant}"), (INEXTEND, r"\p{InCB=Extend}"):
    for m in regex.finditer(pattern, everything):
        flags[ord(m[0])] |= flag

# The library shows its clusters in the normalizer Precompiled: with a table of a -> b alone, a cluster of a and a mark
# becomes b. The table is a double array: the root, then a at 0x60, its value at 0x61.
units = [0] * 256
units[0], units[0x60], units[0x61] = 1 << 10, 1 << 10 | 1 << 8 | ord("a"), 0
table = struct.pack("<I256I", 1024, *units) + b"b\0"
cluster = normalizers.Precompiled(table)
joining = {CLUSTERS.index(name) for name in ("Extend", "ZWJ", "SpacingMark")}
for c in points:
    joins = cluster.normalize_str("a" + chr(c)) == "b"
    if joins != (flags[c] >> 5 & 15 in joining):
        print("U+%04X joins: %s" % (c, joins))
        flags[c] &= ~(15 << 5 | LINKER | CONSONANT | INEXTEND)
        flags[c] |= joins * CLUSTERS.index("Extend") << 5

nfd, nfkd, nfc, lower = normalizers.NFD(), normalizers.NFKD(), normalizers.NFC(), normalizers.Lowercase()
canonical, compatible, lowered, composed, classes = {}, {}, {}, {}, {}
for c in points:
    s = chr(c)
    if (to := lower.normalize_str(s)) != s:
        lowered[c] = to
    if 0xAC00 <= c < 0xD7A4:  # Hangul is computed
        continue
    d = nfd.normalize_str(s)
    if d != s:
        canonical[c] = d
        if len(d) > 1:
            first = nfc.normalize_str(d[:-1])
            if len(first) == 1 and nfc.normalize_str(first + d[-1]) == s:
                composed[ord(first), ord(d[-1])] = c
    if (k := nfkd.normalize_str(s)) != d:
        compatible[c] = k
    if n := unicodedata.combining(s):  # never changes once it is assigned: is it, in the library's version?
        other = "\u0301" if n < 230 else "\u0323"
        if nfd.normalize_str("a" + other + s) == "a" + s + other if n < 230 else \
                nfd.normalize_str("a" + s + other) == "a" + other + s:
            classes[c] = n

scripts = pre.UnicodeScripts()


def same(a, b):
    return len(scripts.pre_tokenize_str(a + b)) == 1


# Code points that split from neither Latin nor Han have no script. Runs of the others are compared with one
# representative of each script that was seen.
script, seen, last = {}, [], None
for c in points:
    s = chr(c)
    if same("a", s) and same("京", s):
        script[c] = 0
        continue
    if last is not None and last[0] == c - 1 and same(chr(c - 1), s):
        script[c] = script[c - 1]
    else:
        for k, representative in enumerate(seen, 1):
            if same(representative, s):
                script[c] = k
                break
        else:
            seen.append(s)
            script[c] = len(seen)
    last = c, s

out = bytearray()


def number(n):
    while n >= 0x80:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    out.append(n)


def runs(values):
    got = []
    for c in range(0x110000):
        v = values.get(c, 0)
        if got and got[-1][1] == v:
            got[-1][0] += 1
        else:
            got.append([1, v])
    number(len(got))
    for length, v in got:
        number(length)
        number(v)


def mappings(table):
    number(len(table))
    last = 0
    for c in sorted(table):
        number(c - last)
        last = c
        number(len(table[c]))
        for d in table[c]:
            number(ord(d))


runs(flags)
runs(classes)
runs(script)
mappings(lowered)
mappings(canonical)
mappings(compatible)
number(len(composed))
for (a, b), c in sorted(composed.items()):
    number(a)
    number(b)
    number(c)
(Path(__file__).parent.parent / "unicode.bin").write_bytes(bytes(out))
print(len(out), "bytes,", len(seen), "scripts")
