"""Writes graphs.json: SciPy's components and shortest paths of random graphs."""
import json

import numpy as np
import scipy
from scipy.sparse import csgraph, csr_array

r = np.random.default_rng(5)
out = []
for n, edges in ((1, 0), (6, 0), (5, 5), (12, 14), (25, 32), (25, 90)):
    row, col = r.integers(0, n, edges), r.integers(0, n, edges)
    _, first = np.unique(row * n + col, return_index=True)
    row, col = row[first], col[first]
    w = np.round(r.random(len(row)), 3)
    w[: len(w) // 6] = 0.5  # paths of equal length
    a = csr_array((w, (row, col)), shape=(n, n))
    finite = lambda d: np.where(np.isinf(d), -1, d.round(9)).ravel().tolist()
    out.append(dict(n=n, row=row.tolist(), col=col.tolist(), weights=w.tolist(),
                    weak=csgraph.connected_components(a)[1].tolist(),
                    strong=csgraph.connected_components(a, connection="strong")[1].tolist(),
                    directed=finite(csgraph.shortest_path(a, method="D")),
                    undirected=finite(csgraph.shortest_path(a, method="D", directed=False)),
                    unweighted=finite(csgraph.shortest_path(a, method="D", unweighted=True))))
with open("graphs.json", "w") as f:
    json.dump({"scipy": scipy.__version__, "graphs": out}, f, separators=(",", ":"))
    f.write("\n")
