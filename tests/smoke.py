"""Run by CI with an installed wheel, from another directory: the library and the command do their main job.

python tests/smoke.py /path/to/retain
"""

import json
import subprocess
import sys

import retention

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

print(f"retention works from {retention.__file__}")
