"""What reads a program's output, and the process that a consumer is measured in, so that memory and time are its own.

The process takes a job from its standard input, as JSON. It lets the consumer read a short stream and checks the
answer; whatever the consumer imports is imported then. Only after that it is timed, and that answer is checked too.
"""

import codecs
import contextlib
import json
import os
import resource
import subprocess
import sys
import threading
import time
from collections import deque, namedtuple
from subprocess import PIPE, Popen

from memory import resident

HEAD = TAIL = 8192
FIRST = HEAD + TAIL
BLOCK = 65536
LINES = 200

# title: what stands in the tables. ours: whether it is one of this library's. stops: it keeps the first bytes alone,
# and ends the program then. lines: it keeps the last lines, not bytes.
Consumer = namedtuple("Consumer", "title function is_async ours stops lines")
CONSUMERS = {}


def consumer(title, *, is_async=False, ours=False, stops=False, lines=False):
    """Enter a function that takes the words of a command and answers how many bytes it has seen, the head and the tail.

    A part of the answer that it does not know or keep is None. Text is cut between characters, bytes anywhere.
    """

    def enter(function):
        CONSUMERS[function.__name__] = Consumer(title, function, is_async, ours, stops, lines)
        return function

    return enter


@contextlib.contextmanager
def started(words, bufsize=0):
    with Popen(words, stdout=PIPE, bufsize=bufsize) as process:
        yield process.stdout
    if process.returncode != 0:
        raise subprocess.CalledProcessError(process.returncode, words)


@contextlib.contextmanager
def watched(words, **options):
    """Another program that reads in place of this process: its memory is looked at again and again.

    Once it has ended nobody can tell, see memory.py.
    """
    ended = threading.Event()

    def watch():
        with contextlib.suppress(OSError):
            peaks.append(resident(process.pid)[1])
            while not ended.wait(0.02):
                peaks.append(resident(process.pid)[1])

    with Popen(words, stdout=PIPE, **options) as process:
        thread = threading.Thread(target=watch)
        thread.start()
        try:
            yield process.stdout
        finally:
            ended.set()
            thread.join()
    if process.returncode != 0:
        raise subprocess.CalledProcessError(process.returncode, words)


peaks = [0]


@consumer("C reader, throws away")
def sink(words):
    return int(piped(words, [os.environ["SINK"]])), None, None


@consumer("`retention.run`", ours=True)
def run(words):
    import retention

    return parts(retention.run(words, check=True).stdout)


@consumer("`await retention.arun`", is_async=True, ours=True)
async def arun(words):
    import retention

    return parts((await retention.arun(words, check=True)).stdout)


@consumer("`TextRetainer.drain`", ours=True)
def drain(words):
    from retention import TextHeadTail, TextRetainer

    retainer = TextRetainer(TextHeadTail(HEAD, TAIL))
    with started(words) as stdout:
        retainer.drain(stdout)
    return parts(retainer.finish())


@consumer("`os.read` loop with `push`", ours=True)
def push(words):
    from retention import TextHeadTail, TextRetainer

    retainer = TextRetainer(TextHeadTail(HEAD, TAIL))
    with started(words) as stdout:
        while chunk := os.read(stdout.fileno(), BLOCK):
            retainer.push(chunk)
    return parts(retainer.finish())


@consumer("the `retain` command", ours=True)
def retain(words):
    with watched([sys.executable, "-m", "retention", "--json", "--", *words]) as stdout:
        answer = json.loads(stdout.read())
    return answer["seen"], answer["head"], answer["tail"]


@consumer("`capture_output=True`, then slices")
def capture(words):
    output = subprocess.run(words, capture_output=True, check=True).stdout
    return len(output), output[:HEAD], output[-TAIL:]


@consumer("`for line in proc.stdout`, with a deque")
def lines(words):
    seen, head, tail, kept = 0, b"", deque(), 0
    with started(words, bufsize=-1) as stdout:
        for line in stdout:
            seen += len(line)
            if len(head) < HEAD:
                head += line[: HEAD - len(head)]
            tail.append(line)
            kept += len(line)
            while kept - len(tail[0]) >= TAIL:
                kept -= len(tail.popleft())
    return seen, head, b"".join(tail)[-TAIL:]


@consumer(f"`deque(proc.stdout, maxlen={LINES})`", lines=True)
def last_lines(words):
    with started(words, bufsize=-1) as stdout:
        return None, None, b"".join(deque(stdout, maxlen=LINES))


@consumer("`os.read` loop with a deque")
def chunks(words):
    ends = Ends()
    with started(words) as stdout:
        while chunk := os.read(stdout.fileno(), BLOCK):
            ends.push(chunk)
    return ends.answer()


@consumer("asyncio `StreamReader` with a deque", is_async=True)
async def stream_reader(words):
    import asyncio

    ends = Ends()
    process = await asyncio.create_subprocess_exec(*words, stdout=PIPE)
    while chunk := await process.stdout.read(BLOCK):
        ends.push(chunk)
    await process.wait()
    return ends.answer()


@consumer("`tail -c`, the tail alone")
def tail(words):
    return None, None, piped(words, ["tail", "-c", str(TAIL)])


@consumer("`(head -c; tail -c)` of a shell")
def head_and_tail(words):
    # The shell becomes `tail`, so that its memory is that of `tail`.
    output = piped(words, ["sh", "-c", f"head -c {HEAD}; exec tail -c {TAIL}"])
    return None, output[:HEAD], output[HEAD:]


@consumer("`head -c`", stops=True)
def head(words):
    return None, piped(words, ["head", "-c", str(FIRST)], stops=True), None


@consumer("`proc.stdout.read(n)`, then `proc.kill()`", stops=True)
def read_and_kill(words):
    with Popen(words, stdout=PIPE) as process:
        first = process.stdout.read(FIRST)
        process.kill()
    return None, first, None


@consumer('`retention.run`, `stop="stop_when_full"`', ours=True, stops=True)
def run_stop(words):
    import retention

    result = retention.run(words, stdout=retention.TextHead(FIRST, stop="stop_when_full"))
    return None, result.stdout.head, None


@consumer("`retain --stop`", ours=True, stops=True)
def retain_stop(words):
    options = ["--head", str(FIRST), "--stop", "--json"]
    with watched([sys.executable, "-m", "retention", *options, "--", *words]) as stdout:
        return None, json.loads(stdout.read())["head"], None


class Ends:
    """Head, tail and count as plain Python keeps them: whole chunks, dropped when no byte of them is needed."""

    def __init__(self):
        self.seen, self.head, self.tail, self.kept = 0, b"", deque(), 0

    def push(self, chunk):
        self.seen += len(chunk)
        if len(self.head) < HEAD:
            self.head += chunk[: HEAD - len(self.head)]
        self.tail.append(chunk)
        self.kept += len(chunk)
        while self.kept - len(self.tail[0]) >= TAIL:
            self.kept -= len(self.tail.popleft())

    def answer(self):
        return self.seen, self.head, b"".join(self.tail)[-TAIL:]


def parts(result):
    return result.seen_bytes, result.head, result.tail


def piped(words, reader, *, stops=False):
    """What another program prints that reads the output of a command."""
    with Popen(words, stdout=PIPE, bufsize=0) as process, watched(reader, stdin=process.stdout) as stdout:
        # Else the command would not learn that its reader has ended.
        process.stdout.close()
        output = stdout.read()
    if process.returncode != 0 and not stops:
        raise subprocess.CalledProcessError(process.returncode, words)
    return output


class Computing:
    """A thread that computes all the time, and the CPU seconds that it has used."""

    seconds = 0.0

    def start(self):
        threading.Thread(target=self.compute, daemon=True).start()

    def compute(self):
        while True:
            sum(range(1000))
            self.seconds = time.thread_time()


def answers(who, words, times):
    """What a consumer answers that is called so many times at once: in as many threads, or as many tasks."""
    if who.is_async:
        import asyncio

        async def gather():
            return await asyncio.gather(*(who.function(words) for _ in range(times)))

        return asyncio.run(gather())
    if times == 1:
        return [who.function(words)]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(times) as pool:
        return list(pool.map(who.function, [words] * times))


def check(who, answer, expected):
    """Compare an answer with what the plainest reader found: see producers.seen_by."""
    seen, head, tail = answer
    first, last = bytes.fromhex(expected["first"]), bytes.fromhex(expected["last"])
    first = first[:FIRST] if who.stops else first[:HEAD]
    # A last byte that is no newline belongs to a line, too.
    last = b"\n".join(last[:-1].split(b"\n")[-LINES:]) + last[-1:] if who.lines else last[-TAIL:]
    wrong = [
        what
        for what, found, right in (
            ("count", seen, expected["seen"]),
            ("head", head, text_before(first) if isinstance(head, str) else first),
            ("tail", tail, text_after(last) if isinstance(tail, str) else last),
        )
        if found is not None and found != right
    ]
    if wrong or (seen, head, tail) == (None, None, None):
        raise WrongAnswerError(f"{who.title}: wrong {', '.join(wrong) or 'in all'}")


class WrongAnswerError(Exception):
    pass


def text_before(data):
    """What is decoded of bytes behind which a stream was cut: a character that the cut divides is omitted."""
    return codecs.getincrementaldecoder("utf-8")("replace").decode(data)


def text_after(data):
    """What is decoded of bytes before which a stream of well-formed UTF-8 was cut."""
    divided = 0
    while divided < 3 and data[divided] & 0xC0 == 0x80:
        divided += 1
    return data[divided:].decode(errors="replace")


def cpu_seconds():
    parts = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(part.ru_utime + part.ru_stime for part in parts)


def main():
    job = json.load(sys.stdin)
    who = CONSUMERS[job["consumer"]]
    try:
        check(who, answers(who, job["short"]["words"], 1)[0], job["short"])
        computing = Computing()
        if job["beside"] == "thread":
            computing.start()
        times = 8 if job["beside"] == "eight" else 1
        cpu, computed, start = cpu_seconds(), computing.seconds, time.perf_counter()
        found = answers(who, job["long"]["words"], times)
        seconds = time.perf_counter() - start
        cpu = cpu_seconds() - cpu - (computing.seconds - computed)
        # Before the answers are checked, which takes memory. Where another program reads, its memory is what counts.
        peak = max(peaks) or resident()[1]
        for answer in found:
            check(who, answer, job["long"])
    except WrongAnswerError as error:
        print(json.dumps({"wrong": str(error)}))
    else:
        print(json.dumps({"seconds": seconds, "cpu": cpu, "peak": peak}))
    sys.stdout.flush()
    # Without waiting for a thread that computes.
    os._exit(0)


if __name__ == "__main__":
    main()
