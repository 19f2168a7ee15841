"""Writes metrics.json: values of scikit-learn 1.9 for metrics of package train.

    pip install scikit-learn && python metrics.py > metrics.json
"""
import json
import numpy as np
from sklearn import metrics as m

rng = np.random.default_rng(1)
r = lambda x: [round(float(v), 3) for v in np.ravel(x)]
out = []


def case(name, outputs, targets, shape, want, **opts):
    out.append(dict(name=name, outputs=r(outputs), targets=[float(x) for x in np.ravel(targets)], shape=list(shape), want=want, opts=opts))


# Logits of 5 classes; class 4 is never a target, and seldom a prediction.
n, c = 60, 5
y = rng.integers(0, 4, n)
x = np.round(rng.normal(size=(n, c)) + 1.5 * np.eye(c)[y], 3)
p = x.argmax(1)
classes = dict(accuracy=m.accuracy_score(y, p))
for k in (2, 3):
    classes[f"top{k}"] = m.top_k_accuracy_score(y, x, k=k, labels=range(c))
for avg in ("macro", "micro", "weighted"):
    classes[f"precision {avg}"] = m.precision_score(y, p, average=avg, zero_division=0)
    classes[f"recall {avg}"] = m.recall_score(y, p, average=avg, zero_division=0)
    classes[f"f1 {avg}"] = m.f1_score(y, p, average=avg, zero_division=0)
    classes[f"iou {avg}"] = m.jaccard_score(y, p, average=avg, zero_division=0)
classes["perplexity"] = float(np.exp(m.log_loss(y, np.exp(x) / np.exp(x).sum(1, keepdims=True), labels=range(c))))
case("classes", x, y, (n, c), classes, matrix=[int(v) for v in np.ravel(m.confusion_matrix(y, p, labels=range(int(max(y.max(), p.max())) + 1)))])

# Scores of two classes, with ties.
y = rng.integers(0, 2, n)
s = np.round(rng.normal(size=n) + y, 1)
p = (s > 0).astype(int)
case("binary", s, y, (n,), {
    "accuracy": m.accuracy_score(y, p), "precision": m.precision_score(y, p), "recall": m.recall_score(y, p),
    "f1": m.f1_score(y, p), "iou": m.jaccard_score(y, p), "auc": m.roc_auc_score(y, s), "average_precision": m.average_precision_score(y, s),
})

# Numbers far from 0, whose sums of squares would cancel.
y = np.round(1e4 + rng.normal(size=n), 3)
x = np.round(y + rng.normal(size=n) * 0.3, 3)
case("numbers", x, y, (n,), {
    "mse": m.mean_squared_error(y, x), "rmse": m.root_mean_squared_error(y, x), "mae": m.mean_absolute_error(y, x), "r2": m.r2_score(y, x),
})
case("constant", np.ones(4) * 2, np.ones(4), (4,), {"r2": m.r2_score(np.ones(4), np.ones(4) * 2)})
case("exact", np.ones(4), np.ones(4), (4,), {"r2": m.r2_score(np.ones(4), np.ones(4))})
print(json.dumps(out, indent=None, separators=(",", ":")))
