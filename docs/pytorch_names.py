"""Writes pytorch-uses.txt: the public names of PyTorch and torchvision, each with the number of libraries that use it.

    python pytorch_names.py DIR      # DIR has wheels or source archives; needs torch and torchvision

The public list is torch's own: __all__ where a module has it, otherwise what dir shows that a module
of that package defines. Uses are counted in libraries of different fields, one archive each:

    pip download --no-deps -d DIR timm diffusers lightning kornia monai torch-geometric speechbrain \\
        ultralytics stable-baselines3 torchaudio fairseq pyro-ppl
    pip download --no-deps -d DIR transformers torchvision

A library uses torch.nn.Linear where its code leads there over its imports. A library uses a method of
Tensor where it calls any method of that name, so that common words, such as split, are counted too high.
"""
import ast
import collections
import importlib
import inspect
import io
import pathlib
import sys
import tarfile
import zipfile

import torch
import torchvision

MODULES = """torch torch.nn torch.nn.functional torch.nn.init torch.nn.utils torch.nn.utils.rnn torch.nn.utils.prune
torch.nn.utils.parametrize torch.nn.utils.parametrizations torch.autograd torch.optim torch.optim.lr_scheduler
torch.optim.swa_utils torch.utils.data torch.distributions torchvision.transforms torchvision.transforms.v2
torchvision.transforms.functional""".split()


def public(name):
    module = importlib.import_module(name)
    if hasattr(module, "__all__"):
        return sorted({n for n in module.__all__ if not n.startswith("_")})
    top = name.split(".")[0]
    return sorted(n for n, v in vars(module).items() if not n.startswith("_") and not inspect.ismodule(v)
                  and (getattr(v, "__module__", None) or top).split(".")[0] == top
                  and getattr(v, "__module__", "") not in ("torch._C", "torch.jit._script")
                  and not n.isupper())


def tensor_methods():
    return sorted(n for n in dir(torch.Tensor) if not n.startswith("_"))


def sources(path):
    """The Python files of an archive, without its tests."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as z:
            for n in z.namelist():
                if n.endswith(".py"):
                    yield n, z.read(n)
    else:
        with tarfile.open(path) as t:
            for m in t:
                if m.isfile() and m.name.endswith(".py"):
                    yield m.name, t.extractfile(m).read()


class Uses(ast.NodeVisitor):
    def __init__(self):
        self.alias, self.names, self.methods = {}, set(), set()

    def visit_Import(self, node):
        for a in node.names:
            self.alias[a.asname or a.name.split(".")[0]] = a.name if a.asname else a.name.split(".")[0]

    def visit_ImportFrom(self, node):
        if node.level == 0 and node.module:
            for a in node.names:
                full = node.module + "." + a.name
                self.alias[a.asname or a.name] = full
                self.names.add(full)

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
        elif full.startswith(("torch.", "torchvision.")):
            self.names.add(full)
        self.generic_visit(node)


def main():
    archives = sorted(p for p in pathlib.Path(sys.argv[1]).iterdir() if p.suffix in (".whl", ".gz"))
    names = {m + "." + n for m in MODULES for n in public(m)} | {"torch.Tensor." + n for n in tensor_methods()}
    users = collections.Counter()
    for path in archives:
        seen = set()
        for file, text in sources(path):
            if "/test" in file:
                continue
            try:
                tree = ast.parse(io.BytesIO(text).read())
            except (SyntaxError, ValueError):
                continue
            u = Uses()
            u.visit(tree)
            for n in u.names:
                seen.add(n)
                seen.add(n.replace("torch.nn.parameter.", "torch.nn.").replace("torch.nn.modules.", "torch.nn."))
                for longer in ("torch.optim.lr_scheduler.", "torch.utils.data."):
                    if n.startswith(longer):
                        seen.add(longer + n.rsplit(".", 1)[1])
            seen |= {"torch.Tensor." + m for m in u.methods}
        for n in seen & names:
            users[n] += 1
    with open(pathlib.Path(__file__).with_name("pytorch-uses.txt"), "w") as f:
        f.write(f"# Public names of torch {torch.__version__.split('+')[0]} and torchvision {torchvision.__version__.split('+')[0]}, and how many of "
                f"{len(archives)} libraries use each. Written by pytorch_names.py.\n")
        f.write("# " + ", ".join("-".join(p.name.split("-")[:2]).removesuffix(".tar.gz") for p in archives) + "\n")
        for n in sorted(names):
            f.write(f"{n} {users[n]}\n")


main()
