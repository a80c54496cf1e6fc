"""Run by CI under AddressSanitizer: nothing that the compiled modules allocate is lost, on any path.

    LD_PRELOAD=... ASAN_OPTIONS=detect_leaks=1 python tests/check_leaks.py

Asks the sanitizer while the interpreter runs: at its end CPython itself leaves too much behind to tell anything.
"""

import contextlib
import copy
import ctypes
import gc
import os
import pickle
import sys
import tempfile

import retention
from retention import (
    ItemHeadTail,
    ItemRetainer,
    TextHead,
    TextHeadTail,
    TextRetainer,
    TextTail,
    fit_text,
)


def text_round(strategy, **settings):
    retainer = TextRetainer(strategy, **settings)
    for chunk in (b"abc\n" * 500, "é€😀\n" * 500, bytearray(b"\xe2\x82"), memoryview(b"x" * 5000), b""):
        retainer.push(chunk)
    with contextlib.suppress(TypeError):
        retainer.push(None)
    with contextlib.suppress(BufferError):
        retainer.push(memoryview(b"abcdef")[::2])
    with contextlib.suppress(TypeError):
        retainer.extend([b"a", 1])
    retainer.finish().render()
    retainer.finish_bytes()
    retainer.notice("leaks")
    pickle.loads(pickle.dumps(retainer)).merge(retainer)
    copy.copy(retainer + retainer)
    with contextlib.suppress(ValueError):
        retainer.__setstate__((2,))


def process_round():
    retention.run(["sh", "-c", "echo out; echo err >&2; cat"], input=b"x" * 100_000)
    retention.run(["yes"], stdout=TextHead(10, stop="stop_when_full"), grace=0.05)
    retention.run(["sleep", "5"], timeout=0.02, grace=0.05)
    with contextlib.suppress(FileNotFoundError):
        retention.run(["no such program"])
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "spilled")
        retention.run(["seq", "1000"], spill=retention.Spill(path, 100))
        retention.retain_file(path, TextHeadTail(10, 10))
    with contextlib.suppress(OSError):
        TextRetainer(TextHead(1)).drain(9999)


def main() -> int:
    for _ in range(20):
        for strategy in (TextHead(1000), TextTail(1000), TextHeadTail(0, 0), TextHeadTail(5000, 5000)):
            text_round(strategy)
            text_round(strategy, whole_lines=True, errors="ignore")
        items = ItemRetainer(ItemHeadTail(3, 3))
        items.extend(range(100))
        (items + items).finish().render()
        fit_text("é" * 1000, 100)
        fit_text("a" * 1000, 100, marker=lambda result: f"<{result.omitted_bytes.count}>")
        process_round()
    gc.collect()
    lost = ctypes.CDLL(None).__lsan_do_recoverable_leak_check()
    print("leaks were found" if lost else "no leaks")
    sys.stdout.flush()
    return 1 if lost else 0


if __name__ == "__main__":
    os._exit(main())
