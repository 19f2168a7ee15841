"""Makes vectors.json and the .npz and .mtx files: results of SciPy on small matrices.

Run it with SciPy 1.17 or another version: python make.py, in this folder.
"""
import json

import numpy as np
import scipy.io
import scipy.sparse as sp
import scipy.sparse.csgraph as cg
import scipy.sparse.linalg as sl

r = np.random.default_rng(32)


def coo(rows, cols, n, complex_values=False):
    v = np.round(r.standard_normal(n) * 8) / 8 + 0.125
    if complex_values:
        v = v + 1j * np.round(r.standard_normal(n) * 8) / 8
    return sp.coo_array((v, (r.integers(0, rows, n), r.integers(0, cols, n))), shape=(rows, cols))


def numbers(x):
    x = np.asarray(x.todense() if sp.issparse(x) else x)
    if np.iscomplexobj(x):
        return {"shape": x.shape, "re": x.real.ravel().tolist(), "im": x.imag.ravel().tolist()}
    return {"shape": x.shape, "re": x.astype(float).ravel().tolist()}


def stored(a):
    c = a.tocoo()
    return numbers(c.data) | {"row": c.row.tolist(), "col": c.col.tolist(), "rows": a.shape[0], "cols": a.shape[1]}


out = []
for kind in (False, True):
    a, b, c = coo(7, 9, 25, kind), coo(7, 9, 20, kind), coo(9, 5, 20, kind)
    x, y = r.standard_normal((9, 3)), r.standard_normal((2, 7))
    case = {"a": stored(a), "b": stored(b), "c": stored(c), "x": numbers(x), "y": numbers(y)}
    csr = a.tocsr()
    case["matmul"] = numbers(a @ x)
    case["left"] = numbers(y @ a)
    case["dot"] = numbers(a.tocsr() @ c.tocsr())
    case["add"] = numbers(a.tocsr() + b.tocsr())
    case["sub"] = numbers(a.tocsr() - b.tocsr())
    case["mul"] = numbers(a.tocsr().multiply(b.tocsr()))
    case["h"] = numbers(a.conj().T)
    case["sum"], case["sum0"], case["sum1"] = numbers(a.sum()), numbers(a.sum(axis=0)), numbers(a.sum(axis=1))
    case["mean1"] = numbers(a.mean(axis=1))
    case["kron"] = numbers(sp.kron(a, c))
    case["hstack"] = numbers(sp.hstack([a, b]))
    case["vstack"] = numbers(sp.vstack([a, b]))
    case["blockdiag"] = numbers(sp.block_diag([a, c]))
    case["slice"] = numbers(csr[1:6, 2:8])
    case["tril"], case["triu"] = numbers(sp.tril(a, 1)), numbers(sp.triu(a, -1))
    case["diagonal"] = numbers(a.diagonal(1))
    case["norm"] = numbers(sl.norm(csr))
    if not kind:
        case["max"], case["max0"], case["min1"] = numbers(csr.max()), numbers(csr.max(axis=0).todense()), numbers(csr.min(axis=1).todense())
        case["maximum"], case["minimum"] = numbers(csr.maximum(b.tocsr())), numbers(csr.minimum(b.tocsr()))
    s = a.tocsr()[:, :7]
    s = s + s.conj().T + 3 * sp.eye_array(7)
    case["s"] = stored(s)
    case["eigsh"] = numbers(np.linalg.eigvalsh(s.todense()))
    case["svds"] = numbers(np.linalg.svd(a.todense(), compute_uv=False))
    case["solve"] = numbers(np.linalg.solve(s.todense(), y[0]))
    out.append(case)
    name = "complex" if kind else "real"
    for f in ("csr", "csc", "coo"):
        sp.save_npz(f"{name}_{f}.npz", a.asformat(f))
    scipy.io.mmwrite(f"{name}.mtx", a)
sp.save_npz("bsr.npz", sp.csr_array(out[0]["matmul"]["re"][:18] * np.ones(18) .reshape(1, 18)).reshape((6, 3)).tobsr((2, 3)))
scipy.io.mmwrite("symmetric.mtx", s.real.astype(float), symmetry="symmetric")
json.dump(out, open("vectors.json", "w"))
