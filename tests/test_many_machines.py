"""Files retained by several processes, and merged: equal to a single pass over all of them."""

import multiprocessing
import operator
import os
import pickle
import signal
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial, reduce

import pytest

from retention import ItemHeadTail, ItemRetainer, TextHead, TextHeadTail, TextRetainer, TextTail, retain_file

# More than any of these takes, also on a slow and busy machine: interpreters import much before they begin.
SOON = 200

JOBS = [
    (TextHeadTail(100, 100), {}),
    (TextHeadTail(1000, 1000), {"count_lines": True}),
    (TextHeadTail(1000, 1000), {"whole_lines": True, "errors": "ignore"}),
    (TextHeadTail(10**6, 10**6, head_lines=25, tail_lines=55), {}),
    (TextHead(700, max_lines=30, stop="stop_when_full"), {}),
    (TextTail(10**9), {}),
    (TextTail(0), {"count_lines": True}),
]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """About a hundred files, every other one empty; characters and lines go on from one to the next."""
    folder = tmp_path_factory.mktemp("logs")
    content = "".join(f"{number}: é€😀\r\n" for number in range(2000)).encode()
    for number, start in enumerate(range(0, len(content), 607)):
        (folder / f"{number:03}.log").write_bytes(content[start : start + 607])
        (folder / f"{number:03}.log.empty").touch()
    return folder


def names(folder):
    return sorted(os.path.join(folder, name) for name in os.listdir(folder))


def single_pass(folder, strategy, how):
    retainer = TextRetainer(strategy, **how)
    for name in names(folder):
        with open(name, "rb") as file:
            retainer.push(file.read())
    return retainer


def assert_go_on_equally(one, other):
    for chunk in (b"", "é\n", b"x" * 2000):
        assert one.push(chunk) == other.push(chunk)
        assert one.finish() == other.finish()
        assert one.finish_bytes() == other.finish_bytes()


# A program of its own, whose worker processes import it: it has warnings and threads of its own, and an end.
ON_DASK = """
import operator, os, pickle, sys, time, warnings
from functools import partial

warnings.simplefilter("error")
warnings.filterwarnings("ignore", module="dask|distributed|tornado|asyncio")
import dask.bag
from distributed import Client, LocalCluster

from retention import retain_file

def main():
    paths, jobs = pickle.load(sys.stdin.buffer)
    answers = []
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address="127.0.0.1:0"
        ) as cluster,
        Client(cluster) as client,
    ):
        workers = set(client.run(os.getpid).values())
        assert len(workers | {os.getpid()}) == 3
        for (strategy, how), npartitions, split_every in jobs:
            bag = dask.bag.from_sequence(paths, npartitions=npartitions)
            parts = bag.map(partial(retain_file, strategy=strategy, **how))
            answers.append(parts.fold(operator.add, split_every=split_every).compute())
        pids = dask.bag.from_sequence(paths).map(lambda path: os.getpid()).distinct().compute()
        assert set(pids) <= workers
    deadline = time.monotonic() + 60
    while any(os.path.exists(f"/proc/{pid}") for pid in workers):
        assert time.monotonic() < deadline, "a worker is left"
        time.sleep(0.05)
    sys.stdout.buffer.write(pickle.dumps(answers))

if __name__ == "__main__":
    main()
"""


def run(program, folder, stdin):
    """A program's standard output. It ends in time, and with it all that it started."""
    (folder / "program.py").write_text(program, encoding="utf-8")
    with subprocess.Popen(
        [sys.executable, "program.py"],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        try:
            output, _ = process.communicate(stdin, timeout=SOON)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 0
    return output


def test_on_dask_files_folded_by_merging_are_the_single_pass(files, tmp_path):
    pytest.importorskip("distributed")
    shapes = [(None, None), (1, None), (7, 2), (60, 2), (13, False), (None, 3), (40, 4)]
    jobs = [(job, *shape) for job, shape in zip(JOBS, shapes, strict=True)]
    answers = pickle.loads(run(ON_DASK, tmp_path, pickle.dumps((names(files), jobs))))
    for whole, (strategy, how) in zip(answers, JOBS, strict=True):
        assert_go_on_equally(whole, single_pass(files, strategy, how))


@pytest.fixture(scope="module")
def pool():
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield pool


@pytest.mark.parametrize(("strategy", "how"), JOBS, ids=str)
def test_in_a_pool_of_processes_merged_files_are_the_single_pass(files, pool, strategy, how):
    parts = pool.map(partial(retain_file, strategy=strategy, **how), names(files), timeout=SOON, chunksize=5)
    assert_go_on_equally(reduce(operator.add, parts), single_pass(files, strategy, how))


def test_in_a_pool_of_processes_merging_may_be_shared_out_too(files, pool):
    strategy, how = JOBS[3]
    parts = list(pool.map(partial(retain_file, strategy=strategy, **how), names(files), timeout=SOON, chunksize=5))
    while len(parts) > 1:
        odd = parts[len(parts) // 2 * 2 :]
        parts = [*pool.map(operator.add, parts[::2], parts[1::2], timeout=SOON, chunksize=5), *odd]
    assert_go_on_equally(parts[0], single_pass(files, strategy, how))


def test_in_a_pool_of_processes_items_merge_too(pool):
    strategy = ItemHeadTail(30, 40)
    parts = [ItemRetainer(strategy) for _ in range(9)]
    for number, part in enumerate(parts):
        part.extend(range(number * 100, number * 100 + 100))
    whole = parts[0]
    for part in parts[1:]:
        whole = pool.submit(operator.add, whole, part).result(SOON)
    assert whole.finish().items == [*range(30), *range(860, 900)]
    assert whole.seen == 900


def test_an_error_in_another_process_is_raised_here(files, pool):
    with pytest.raises(FileNotFoundError):
        pool.submit(retain_file, files / "missing", TextHead(3)).result(SOON)
    with pytest.raises(ValueError, match="equal"):
        pool.submit(operator.add, TextRetainer(TextHead(3)), TextRetainer(TextHead(4))).result(SOON)
