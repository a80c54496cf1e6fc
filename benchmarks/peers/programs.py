"""Peers in other languages: programs that are asked by one JSON object on standard input, and answer by another.

They are asked for a piece of work:

    {"kind": "text" or "items", "strategy": {"kind": "head" | "tail" | "head_tail", "head": 8192, "tail": 8192},
     "type": "bytes" or "str", "chunks": [...], "seconds": 0.4}

`chunks` holds what is pushed one by one: bytes in base64, or strings. The program makes its retainer, pushes each chunk
and finishes, again and again for about so many seconds, and answers with the best round of each, in nanoseconds:

    {"runtime": "node v20.20.2", "rounds": 120, "stream_ns": 812345.0, "push_ns": 49.2, "finish_ns": 10234.0,
     "text": "...", "omitted": 123456}

`stream_ns` is of the whole round, `push_ns` of all pushes divided by their number, `finish_ns` of finishing alone. For
items the answer has `items`, a list, in the place of `text`. Reading the work and the base64 is not timed.

Its rounds do not take turns with ours. A compiler at run time may see that nobody looks at what a push answers, and
leave the answer out. Less than some tenths of a second would be the time of code that is not compiled yet.
"""

import json
import shutil
import subprocess
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from . import EVERY_KIND

HERE = Path(__file__).parent
# Not under version control; an installation in it is used again.
CACHE = HERE.parent.parent / "build" / "peers"
INSTALL_SECONDS = 120
RUN_SECONDS = 120


class MissingError(Exception):
    """Why a program cannot be run here."""


@dataclass(frozen=True)
class Program:
    name: str
    lacks: str
    # The words of its command line, or why there are none; True: it may install what is needed.
    command: Callable[[bool], list[str] | str]
    item_lacks: str = ""
    text_kinds: tuple[str, ...] = EVERY_KIND
    item_kinds: tuple[str, ...] = EVERY_KIND

    def run(self, kind, strategy, head, tail, chunks, *, seconds=0.4, install=True):
        """Its answer; `strategy` is the kind of it, `head` and `tail` are budgets. Raises MissingError."""
        words = self.command(install)
        if isinstance(words, str):
            raise MissingError(words)
        binary = not isinstance(chunks[0], str)
        work = {
            "kind": kind,
            "strategy": {"kind": strategy, "head": head, "tail": tail},
            "type": "bytes" if binary else "str",
            "chunks": [b64encode(chunk).decode() for chunk in chunks] if binary else chunks,
            "seconds": seconds,
        }
        run = subprocess.run(
            words, input=json.dumps(work), capture_output=True, encoding="utf-8", timeout=RUN_SECONDS, check=False
        )
        if run.returncode:
            raise RuntimeError(f"{words}: {run.stderr.strip()}")
        return json.loads(run.stdout)


@cache
def node(script, package, version, install):
    """The words that run a script with the folder of a package from npm, which is put into the cache."""
    if not (shutil.which("node") and shutil.which("npm")):
        return "Node and npm are needed"
    folder = CACHE / "node_modules" / package
    manifest = folder / "package.json"
    if not manifest.exists() or json.loads(manifest.read_bytes())["version"] != version:
        if not install:
            return f"{package} {version} has not been installed by a benchmark"
        CACHE.mkdir(parents=True, exist_ok=True)
        options = ["--no-save", "--no-audit", "--no-fund", "--ignore-scripts", "--legacy-peer-deps"]
        words = ["npm", "install", "--prefix", str(CACHE), *options, f"{package}@{version}"]
        try:
            run = subprocess.run(words, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False)
        except subprocess.TimeoutExpired:
            return f"npm did not install {package} in {INSTALL_SECONDS} s"
        if run.returncode:
            reason, _, _ = run.stderr.strip().partition("\n")
            return f"npm could not install {package}: {reason}"
    return ["node", str(HERE / script), str(folder)]


def dsh_output_retention(install):
    return node("dsh_output_retention.mjs", "@deepseek-ai/dsh-output-retention", "0.1.0-rc.8", install)


PROGRAMS = (
    Program(
        "`dsh-output-retention`, Node",
        "byte order marks, malformed bytes at a cut, a bound on memory if chunks are large",
        dsh_output_retention,
        item_lacks="a list of the caller's own",
        item_kinds=("head",),
    ),
)
