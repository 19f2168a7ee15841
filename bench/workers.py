"""Worker processes, of which at most one computes at any time."""
import ctypes
import json
import os
import platform
import select
import signal
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
LINUX = platform.system() == "Linux"
PR_SET_PDEATHSIG = 1
TIMEOUT = 300  # seconds for one answer; the first torch.compile takes some 15


class WorkerError(Exception):
    pass


class Worker:
    """A process that answers JSON lines. Between requests it is stopped by
    signal, so that neither spinning OpenMP threads nor a background collection
    can disturb the one that computes."""

    def __init__(self, name, argv, env, log, processors=None):
        self.name = name

        def in_child():
            if LINUX:
                # A stopped worker would not notice that its driver has died.
                ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
                if processors:
                    os.sched_setaffinity(0, processors)

        self.process = subprocess.Popen(
            argv, env=os.environ | env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, preexec_fn=in_child
        )
        self.hello = self.read().get("hello", {})
        self.pause()

    def read(self):
        ready, _, _ = select.select([self.process.stdout], [], [], TIMEOUT)
        line = self.process.stdout.readline() if ready else b""
        if not line:
            self.close()
            raise WorkerError(f"{self.name}: " + ("its process ended" if ready else f"no answer in {TIMEOUT} s"))
        return json.loads(line)

    def ask(self, **request):
        """The answer to a request; an error of the case is in its "error"."""
        if self.process.poll() is not None:
            return {"error": "its process has ended"}
        self.process.send_signal(signal.SIGCONT)
        try:
            self.process.stdin.write(json.dumps(request).encode() + b"\n")
            self.process.stdin.flush()
            return self.read()
        except (WorkerError, BrokenPipeError) as err:
            return {"error": str(err)}
        finally:
            self.pause()

    def pause(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGSTOP)

    def close(self):
        self.process.kill()
        self.process.wait()


class Crew:
    """Ours and the peers' workers, started when first needed."""

    def __init__(self, ours, cache, settings):
        self.ours, self.settings = ours, settings
        self.log = open(Path(cache, "workers.log"), "w")
        self.workers, self.failed = {}, {}
        self.hello = {}  # setting to versions, also of workers that have ended

    def start(self, key, *args, **options):
        if key not in self.workers and key not in self.failed:
            try:
                worker = self.workers[key] = Worker(*args, log=self.log, **options)
                self.hello[key[0]] = self.hello.get(key[0], {}) | worker.hello
            except (OSError, WorkerError) as err:
                self.failed[key] = str(err)
                print(f"! {key}: {err}; going on without it (see workers.log)", file=sys.stderr)
        return self.workers.get(key)

    def our_worker(self, threads, purpose=""):
        """Our worker for a number of threads; one for a purpose has a process of its own."""
        return self.start(("weft" + purpose, threads), "weft", [str(self.ours)], {"GOMAXPROCS": str(threads)})

    def peers(self, subject, threads, purpose=""):
        """(setting, worker) of the settings that take part in a subject; one for a purpose has a process of its own."""
        for s in self.settings:
            if subject not in s.subjects:
                continue
            program = [s.program] if s.program else [sys.executable, str(HERE / "peers" / "worker.py")]
            argv = [*program, s.libs] + ["--slow-start"] * s.slow_start
            processors = set(sorted(os.sched_getaffinity(0))[:threads]) if s.pinned and LINUX else None
            worker = self.start((s.name + purpose, s.libs, threads), s.name, argv, s.environment(threads), processors=processors)
            if worker:
                yield s, worker

    def keep_only(self, subject, threads):
        """Ends the peers that do not take part in a subject: their memory is wanted."""
        wanted = {(s.name, s.libs, threads) for s in self.settings if subject in s.subjects}
        for key in [k for k in self.workers if k not in wanted and k != ("weft", threads)]:
            self.workers.pop(key).close()

    def close(self):
        for worker in self.workers.values():
            worker.close()
        self.log.close()
