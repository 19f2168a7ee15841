"""Writes numpy-uses.txt and scipy-uses.txt: the public names of NumPy and SciPy, each with the number of libraries that use it.

    python numpy_names.py DIR      # DIR has wheels or source archives; needs numpy and scipy

The public lists are the libraries' own: __all__ where a module has it, otherwise what dir shows. Methods of
arrays and of generators of random numbers are what dir shows of their classes. Uses are counted in libraries
of different fields, one archive each:

    pip download --no-deps -d DIR scikit-learn pandas matplotlib statsmodels xarray scikit-image astropy \\
        seaborn librosa networkx nibabel arviz shapely lmfit

A library uses numpy.linalg.solve where its code leads there over its imports. A library uses a method where
it calls any method of that name, so that common words, such as copy, are counted too high.
"""
import ast
import collections
import importlib
import inspect
import pathlib
import sys
import zipfile

import numpy
import scipy

MODULES = {
    "numpy": "numpy numpy.linalg numpy.fft numpy.random numpy.lib.stride_tricks",
    "scipy": """scipy.linalg scipy.fft scipy.sparse scipy.sparse.linalg scipy.sparse.csgraph scipy.special scipy.signal
scipy.signal.windows scipy.ndimage scipy.stats scipy.optimize scipy.integrate scipy.interpolate scipy.spatial.distance""",
}
CLASSES = {"numpy": {"numpy.ndarray": numpy.ndarray, "numpy.random.Generator": numpy.random.Generator}, "scipy": {}}


def public(name):
    module = importlib.import_module(name)
    names = getattr(module, "__all__", None) or dir(module)
    return sorted({n for n in names if not n.startswith("_") and not inspect.ismodule(getattr(module, n))})


def names_of(library):
    names = {m + "." + n for m in MODULES[library].split() for n in public(m)}
    for prefix, c in CLASSES[library].items():
        names |= {prefix + "." + n for n in dir(c) if not n.startswith("_")}
    return names


class Uses(ast.NodeVisitor):
    def __init__(self):
        self.alias, self.names, self.methods = {}, set(), set()

    def visit_Import(self, node):
        for a in node.names:
            self.alias[a.asname or a.name.split(".")[0]] = a.name if a.asname else a.name.split(".")[0]

    def visit_ImportFrom(self, node):
        if node.level == 0 and node.module:
            for a in node.names:
                self.alias[a.asname or a.name] = node.module + "." + a.name
                self.names.add(node.module + "." + a.name)

    def dotted(self, node):
        if isinstance(node, ast.Name):
            return self.alias.get(node.id)
        if isinstance(node, ast.Attribute):
            base = self.dotted(node.value)
            return base and base + "." + node.attr

    def visit_Attribute(self, node):
        full = self.dotted(node)
        if full is None:
            self.methods.add(node.attr)
        else:
            self.names.add(full)
        self.generic_visit(node)


def main():
    archives = sorted(p for p in pathlib.Path(sys.argv[1]).iterdir() if p.suffix == ".whl")
    names = {library: names_of(library) for library in MODULES}
    users = collections.Counter()
    for path in archives:
        seen = set()
        with zipfile.ZipFile(path) as z:
            for file in z.namelist():
                if not file.endswith(".py") or "/test" in file:
                    continue
                try:
                    tree = ast.parse(z.read(file))
                except (SyntaxError, ValueError):
                    continue
                u = Uses()
                u.visit(tree)
                seen |= u.names
                for classes in CLASSES.values():
                    seen |= {prefix + "." + m for prefix in classes for m in u.methods}
        for n in seen & set().union(*names.values()):
            users[n] += 1
    for library, module in ("numpy", numpy), ("scipy", scipy):
        with open(pathlib.Path(__file__).with_name(library + "-uses.txt"), "w") as f:
            f.write(f"# Public names of {library} {module.__version__}, and how many of {len(archives)} libraries use each. "
                    "Written by numpy_names.py.\n")
            f.write("# " + ", ".join("-".join(p.name.split("-")[:2]) for p in archives) + "\n")
            for n in sorted(names[library]):
                f.write(f"{n} {users[n]}\n")


main()
