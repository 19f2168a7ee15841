"""A formulation: one way in which one library does a work."""
import importlib
from dataclasses import dataclass


@dataclass
class Ready:
    """A prepared formulation.

    stmt is the Python statement that is timed, run in ns; an expression
    statement drops its result at once, so that the allocator can hand the same
    memory out again, which is the best case for the library. check returns the
    numbers that are compared with the other side's. Where Python's own loop
    would weigh on the work, compiled(k) does it k times in compiled code and is
    timed instead.
    """

    stmt: str
    ns: dict
    check: object = None
    compiled: object = None


@dataclass(frozen=True)
class Form:
    """name is unique within a case; make(n, dtype, threads) returns a Ready."""

    name: str
    lib: str
    make: object
    counts: bool = True  # False: shown for scale, not among the peers of the bar
    slow_start: bool = False  # compiles for seconds: only where a setting asks for it


def available(name):
    """The module called name, or None where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None
