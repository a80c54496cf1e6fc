"""Run by CI with an installed wheel, from another directory: the library and the command do their main job.

python tests/smoke.py /path/to/retain
"""

import json
import subprocess
import sys
from importlib.metadata import version

import retention
from retention.draining import engine

retainer = retention.TextRetainer(retention.TextHeadTail(4, 4))
for chunk in ("a€", b"0123456789", bytearray("b€".encode())):
    retainer.push(chunk)
assert retainer.finish().text == "a€b€", retainer.finish()

items = retention.ItemRetainer[int](retention.ItemHead(2))
items.extend(range(10))
assert items.finish().omitted == retention.Omitted("exact", 8)

numbers = "".join(f"{number}\n" for number in range(100_000)).encode()
for command in ([sys.argv[1]], [sys.executable, "-m", "retention"]):
    words = [*command, "--head", "1K", "--json"]
    run = subprocess.run(words, input=numbers, capture_output=True, check=True, timeout=60)
    answer = json.loads(run.stdout)
    assert answer["head"] == numbers[:1024].decode(), answer
    assert answer["omitted"] == {"kind": "exact", "count": len(numbers) - 1024}, answer
    words = [*command, "--version"]
    run = subprocess.run(words, capture_output=True, check=True, timeout=60)
    assert run.stdout.split() == [b"retain", version("output-retention").encode()], run

program = [sys.executable, "-c", "for number in range(100_000): print(number)"]
if sys.platform == "win32":
    assert engine is None
else:
    done = retention.run(program, stdout=retention.TextTail(6), timeout=60)
    assert (done.returncode, done.stdout.tail, done.eof) == (0, "99999\n", True), done
    assert done.stdout.seen_bytes == len(numbers), done
    words = [sys.argv[1], "--tail", "6", "--no-marker", "--", *program]
    assert subprocess.run(words, capture_output=True, check=True, timeout=60).stdout == b"99999\n"

print(f"retention works from {retention.__file__}")
