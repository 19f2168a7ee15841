"""Writes events.json: what TensorBoard 2.21 reads from a file of package train's Events.

    WEFT_EVENTS=DIR go test -run TestEventsFile ./train && python events.py DIR > events.json
"""
import io
import json
import sys

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

a = EventAccumulator(sys.argv[1], size_guidance={"scalars": 0, "histograms": 0, "images": 0})
a.Reload()
out = {"tags": a.Tags()["scalars"] + a.Tags()["histograms"] + a.Tags()["images"], "scalars": {}, "histograms": {}, "images": {}}
for tag in a.Tags()["scalars"]:
    out["scalars"][tag] = [[e.step, e.value] for e in a.Scalars(tag)]
for tag in a.Tags()["histograms"]:
    for e in a.Histograms(tag):
        h = e.histogram_value
        out["histograms"][tag] = dict(step=e.step, min=h.min, max=h.max, num=h.num, sum=h.sum, squares=h.sum_squares, limits=list(h.bucket_limit), counts=list(h.bucket))
for tag in a.Tags()["images"]:
    for e in a.Images(tag):
        out["images"][tag] = dict(step=e.step, width=e.width, height=e.height, size=len(e.encoded_image_string))
json.dump(out, sys.stdout, separators=(",", ":"))
