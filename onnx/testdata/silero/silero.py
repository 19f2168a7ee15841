"""Writes silero.safetensors: what ONNX Runtime computes of a sound, chunk by chunk, with silero's voice detector.

silero_vad_16k_op15.onnx and LICENSE are the files of silero-vad 6.2.3 (https://github.com/snakers4/silero-vad,
Copyright (c) 2020-present Silero Team, MIT License). The sound is silence, a hum with the formants of vowels, noise,
and the hum again: python silero.py

With a folder as its argument the script writes there, for each .onnx file of silero-vad in that folder and each
sampling rate that it has, what it gives for the first chunks.
"""
import glob
import os
import sys

import numpy as np
import onnxruntime as ort
from safetensors.numpy import save_file

HERE = os.path.dirname(os.path.abspath(__file__))


def vowel(seconds, rate, formants, pitch):
    t = np.arange(int(seconds * rate)) / rate
    phase = np.cumsum(pitch * (1 + 0.03 * np.sin(2 * np.pi * 5 * t))) / rate
    y = np.zeros_like(t)
    for k in range(1, int(rate / 2 / pitch)):
        f = k * pitch
        gain = sum(1 / (1 + ((f - c) / w) ** 2) for c, w in formants)
        y += gain / k**0.5 * np.sin(2 * np.pi * k * phase)
    return y / np.abs(y).max() * np.minimum(1, np.minimum(t, t[-1] - t) / 0.03)


def sound(rate):
    rng = np.random.default_rng(5)
    a = vowel(0.35, rate, [(750, 90), (1200, 110), (2500, 150)], 120)
    i = vowel(0.3, rate, [(290, 60), (2250, 150), (3000, 200)], 140)
    parts = [np.zeros(rate // 10), 0.5 * a, 0.4 * i, 0.02 * rng.standard_normal(rate // 8), 0.6 * a, np.zeros(rate // 10)]
    return (np.concatenate(parts) + 1e-3 * rng.standard_normal(sum(map(len, parts)))).astype(np.float32)


def stream(path, rate, chunks=1000):
    """Hands the sound to the model as silero's own wrapper does: each chunk after the end of the one before it."""
    s = ort.InferenceSession(path, providers=["CPUExecutionProvider"])
    names = [v.name for v in s.get_inputs()]
    n, before = (512, 64) if rate == 16000 else (256, 32)
    x = sound(rate)
    state, context, out = np.zeros((2, 1, 128), np.float32), np.zeros((1, before), np.float32), []
    for k in range(min(len(x) // n, chunks)):
        chunk = np.concatenate([context, x[None, k * n:(k + 1) * n]], 1)
        args = {"input": chunk, "state": state, "sr": np.array(rate, np.int64)}
        p, state = s.run(None, {k: v for k, v in args.items() if k in names})
        context = chunk[:, -before:]
        out.append(p[0, 0])
    return {"sound": x[: len(out) * n], "voice": np.array(out, np.float32), "state": state}


if len(sys.argv) == 1:
    save_file(stream(HERE + "/silero_vad_16k_op15.onnx", 16000), HERE + "/silero.safetensors")
else:
    for path in glob.glob(sys.argv[1] + "/*.onnx"):
        for rate in (16000, 8000):
            if "sequence" in path or rate == 8000 and ("16k" in path or "half" in path):
                continue
            out = stream(path, rate)
            save_file(out, f"{path[:-5]}_{rate}.safetensors")
            print(path, rate, out["voice"].round(3))
