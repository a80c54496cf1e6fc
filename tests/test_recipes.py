"""The README's recipes, each run against the real thing: a tree, a process, a server, a file."""

import asyncio
import logging
import os
import re
import stat
import subprocess
import sys
import threading
import time
import weakref
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import SimpleQueue
from urllib.error import HTTPError

import pytest
from readme import recipes, section
from watch import SLACK, SOON

from retention import TextHead, TextHeadTail, TextRetainer, TextTail

pytestmark = pytest.mark.usefixtures("nothing_left")

RECIPES = recipes()


def recipe(name):
    """What the code of a recipe defines."""
    names = {"__name__": "recipe"}
    exec(compile(RECIPES[name][0], f"README.md: {name}", "exec"), names)
    return names


def promised(name, sentence):
    """A sentence that the README promises of a recipe."""
    assert f"`{sentence}`" in RECIPES[name][1]
    return sentence


def test_every_recipe_is_found_and_has_tests():
    assert section("Recipes").split()[:2] == ["Ten", "uses,"]
    assert section("Recipes").count("<details>") == len(RECIPES) == 10
    tests = [name for name in globals() if name.startswith("test_")]
    for name in RECIPES:
        assert any(test.startswith(f"test_{name.lower().replace(' ', '_')}_") for test in tests), name


# glob


@pytest.fixture
def tree(tmp_path):
    for folder in range(200):
        path = tmp_path / f"folder{folder:03}"
        path.mkdir()
        for file in range(2):
            (path / f"file{file}.py").touch()
    return tmp_path


@pytest.fixture
def scanned(monkeypatch):
    """The directories that were listed."""
    listed = []
    scandir = os.scandir

    def counting(path):
        listed.append(path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", counting)
    return listed


def test_glob_ends_the_walk_at_the_probe(tree, scanned):
    *paths, notice = recipe("glob")["glob_tool"](str(tree), "**/*.py", 5).splitlines()
    assert notice == promised("glob", "More items were omitted. Narrow the pattern to see the rest.")
    assert len(set(paths)) == 5
    assert all((tree / path).is_file() for path in paths)
    # Six paths are in three folders. The walk lists its root twice, for what is in it and for where to go on.
    assert 0 < len(scanned) < 10


def test_glob_without_stop_has_an_exact_count(tree, scanned):
    code, prose = RECIPES["glob"]
    assert "leave out `stop`, and the count is exact" in prose
    names = {}
    exec(code.replace(', stop="stop_when_full"', ""), names)
    notice = names["glob_tool"](str(tree), "**/*.py", 5).splitlines()[-1]
    assert notice == "Omitted 395 items. Narrow the pattern to see the rest."
    assert len(scanned) > 200


def test_glob_says_nothing_of_what_is_whole(tree):
    glob_tool = recipe("glob")["glob_tool"]
    assert sorted(glob_tool(str(tree), "folder007/*.py", 2).split()) == ["folder007/file0.py", "folder007/file1.py"]
    assert glob_tool(str(tree), "**/*.c") == "No path matches."


# grep


@pytest.fixture
def fifo(tmp_path):
    path = tmp_path / "fifo"
    os.mkfifo(path)
    return str(path)


def test_grep_is_ended_at_the_probe(fifo):
    with subprocess.Popen(["sh", "-c", 'exec yes "a needle" >"$0"', fifo]) as endless:
        *lines, notice = recipe("grep")["grep_tool"]("needle", fifo).splitlines()
        # Who has fed it has lost its reader.
        assert endless.wait(SOON) != 0
    assert lines == [f"{fifo}:{number}:a needle" for number in range(1, 101)]
    assert notice == promised("grep", "More lines were omitted. Narrow the pattern or the path.")


def test_grep_cuts_only_a_line_that_is_longer_than_the_budget(tmp_path):
    grep_tool = recipe("grep")["grep_tool"]
    (tmp_path / "long").write_text("x" * 40_000 + "\n" + "x" * 40_000 + "\n")
    assert grep_tool("x", str(tmp_path)).splitlines() == [
        f"{tmp_path}/long:1:{'x' * 40_000}",
        "More lines were omitted. Narrow the pattern or the path.",
    ]
    (tmp_path / "long").write_text("x" * 80_000 + "\n")
    line, notice = grep_tool("x", str(tmp_path)).splitlines()
    assert len(line) == 65536
    assert notice == "More bytes were omitted. Narrow the pattern or the path."


def test_grep_tells_no_match_from_failure(tmp_path):
    grep_tool = recipe("grep")["grep_tool"]
    (tmp_path / "file").write_text("needle\n-e\n")
    assert grep_tool("needle", str(tmp_path)) == f"{tmp_path}/file:1:needle"
    assert grep_tool("-e", str(tmp_path)) == f"{tmp_path}/file:2:-e"
    assert grep_tool("straw", str(tmp_path)) == "No line matches."
    for pattern, path in (("[", str(tmp_path)), ("needle", str(tmp_path / "missing"))):
        assert grep_tool(pattern, path).startswith("The search failed in part or whole, with status 2: ")


def test_grep_has_a_time_limit(fifo):
    # Somebody has it open, and writes nothing.
    fd = os.open(fifo, os.O_RDWR)
    try:
        assert recipe("grep")["grep_tool"]("needle", fifo, timeout=0.3) == "The search was ended after 0.3 s."
    finally:
        os.close(fd)


# bash


@pytest.fixture
def log(tmp_path):
    return str(tmp_path / "all.log")


def contents(path):
    with open(path) as file:
        return file.read()


def test_bash_keeps_both_ends_and_saves_all(log):
    text = recipe("bash")["bash_tool"]("seq 1000000", log)
    everything = "".join(f"{number}\n" for number in range(1, 1_000_001))
    head, notice, tail = re.fullmatch(r"(.*\n)\n(\[.*\])\n(.*)", text, re.DOTALL).groups()
    omitted = len(everything) - len(head) - len(tail)
    sentence = f"[Omitted {omitted} bytes. Full output ({len(everything)} bytes) saved to all.log.]"
    assert notice.replace(log, "all.log") == promised("bash", sentence)
    assert everything.startswith(head)
    assert everything.endswith("\n" + tail)
    assert 8180 < len(head) <= 8192
    assert 8180 < len(tail) <= 8192
    assert contents(log) == everything
    assert stat.S_IMODE(os.stat(log).st_mode) == 0o600


def test_bash_is_ended_by_its_timeout_and_loses_nothing(log):
    started = time.monotonic()
    text = recipe("bash")["bash_tool"]("seq 100000; echo last >&2; sleep 1000 & sleep 1000", log, timeout=4.0)
    assert time.monotonic() - started < 4.0 + 0.5 + 1 + SLACK
    assert text.endswith("last\n\nTimed out after 4.0 s: the command and its children were ended.")
    assert contents(log) == "".join(f"{number}\n" for number in range(1, 100_001)) + "last\n"
    assert "`Partial output`" in RECIPES["bash"][1]
    assert f" Partial output ({os.path.getsize(log)} bytes) saved to {log}.]\n" in text


def test_bash_tells_the_exit_status(log):
    assert recipe("bash")["bash_tool"]("echo out; echo err >&2; exit 3", log) == "out\nerr\n\nExit status 3."
    assert contents(log) == "out\nerr\n"


def test_bash_runs_on_where_its_file_cannot_be_made(log):
    bash_tool = recipe("bash")["bash_tool"]
    assert bash_tool("echo first", log) == "first\n"
    assert " bytes. The output could not be saved: File exists.]\n" in bash_tool("seq 100000", log)
    assert contents(log) == "first\n"


# web fetch


class Pages(BaseHTTPRequestHandler):
    def do_GET(self):
        getattr(self, "send_" + self.path[1:])()

    def begin(self, kind="text/plain"):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.end_headers()

    def send_endless(self):
        # Far more than what the sockets hold, for one who would read it all.
        self.begin()
        try:
            for _ in range(64):
                self.wfile.write(b"a line of an endless page\n" * 40_000)
            self.server.outcomes.put("sent")
        except ConnectionError:
            self.server.outcomes.put("closed")

    def send_silent(self):
        self.begin()
        self.wfile.write(b"x" * 101)
        self.wfile.flush()
        self.server.fetched.wait(SOON)

    def send_long(self):
        self.begin()
        self.wfile.write(b"0123456789" * 100_000)

    def send_latin(self):
        self.begin("text/plain; charset=iso-8859-1")
        self.wfile.write("voilà".encode("latin-1"))

    def send_nothing(self):
        self.send_error(404)

    def log_message(self, *args):
        pass


@pytest.fixture
def server():
    with ThreadingHTTPServer(("127.0.0.1", 0), Pages) as server:
        server.daemon_threads = False
        server.outcomes, server.fetched = SimpleQueue(), threading.Event()
        server.address = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.fetched.set()
            server.shutdown()
            thread.join()


def test_web_fetch_closes_the_connection_at_the_probe(server):
    page = recipe("web fetch")["web_fetch"](f"{server.address}/endless")
    assert server.outcomes.get(timeout=SOON) == "closed"
    text, notice = page[:65536], page[65536:]
    assert text == ("a line of an endless page\n" * 3000)[:65536]
    assert notice == "\n" + promised("web fetch", "[More bytes were omitted. Fetch a more specific address.]")


def test_web_fetch_does_not_wait_for_more_than_the_probe(server):
    # The rest would come long after the recipe's time limit.
    page = recipe("web fetch")["web_fetch"](f"{server.address}/silent", limit=100)
    assert page == "x" * 100 + "\n[More bytes were omitted. Fetch a more specific address.]"


def test_web_fetch_reads_to_the_end(server):
    page = recipe("web fetch")["web_fetch"](f"{server.address}/long", stop="read_to_end")
    assert page == ("0123456789" * 10_000)[:65536] + "\n[Omitted 934464 bytes. Fetch a more specific address.]"


def test_web_fetch_knows_the_charset_and_tells_errors(server):
    web_fetch = recipe("web fetch")["web_fetch"]
    assert web_fetch(f"{server.address}/latin") == "voilà"
    with pytest.raises(HTTPError, match="404") as raised:
        web_fetch(f"{server.address}/nothing")
    raised.value.close()
    with pytest.raises(ValueError, match="http or https"):
        web_fetch("file:///etc/passwd")


# web search


def test_web_search_caps_the_sources():
    web_search = recipe("web search")["web_search"]
    sources = [{"title": f"Page {number}", "url": f"https://example.org/{number}"} for number in range(20)]
    *lines, notice = web_search(sources).splitlines()
    assert lines == [f"- Page {number}: https://example.org/{number}" for number in range(5)]
    assert notice == promised("web search", "Omitted 15 items. Sources are capped at 5: refine the query.")
    assert web_search(sources[:2]).splitlines() == lines[:2]
    assert web_search([]) == "Nothing was found."


# tool result


@pytest.mark.parametrize("character", ["a", "é", "汉", "😀"])
@pytest.mark.parametrize("cap", [600, 5000, 32768])
def test_tool_result_is_within_its_cap_and_true(character, cap, tmp_path):
    text = character * 40_000
    bounded = recipe("tool result")["bounded_result"](text, str(tmp_path), cap)
    # No more room is left than a character takes at each of the two cuts.
    assert cap - 8 < len(bounded.encode()) <= cap
    head, count, size, path, tail = re.fullmatch(
        r"(.*)\n\n\[Omitted (\d+) bytes\. Full result \((\d+) bytes\) saved to (.*)\.\]\n\n(.*)", bounded
    ).groups()
    assert text.startswith(head)
    assert text.endswith(tail)
    assert 2 * len(tail) < len(head)
    assert int(count) == len(text.encode()) - len((head + tail).encode())
    assert contents(path) == text
    assert int(size) == os.path.getsize(path)
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600


def test_tool_result_that_fits_is_not_saved(tmp_path):
    assert recipe("tool result")["bounded_result"]("é" * 16384, str(tmp_path)) == "é" * 16384
    assert not list(tmp_path.iterdir())


def test_tool_result_that_cannot_be_saved_says_so(tmp_path):
    bounded = recipe("tool result")["bounded_result"]("x" * 40_000, str(tmp_path / "missing"))
    assert "bytes. The full result could not be saved: No such file or directory.]\n\nx" in bounded
    assert len(bounded) == 32768


def test_tool_result_keeps_lone_surrogates_in_its_file(tmp_path):
    bounded = recipe("tool result")["bounded_result"]("\ud800" * 20_000, str(tmp_path))
    assert len(bounded.encode()) <= 32768
    (saved,) = tmp_path.iterdir()
    assert saved.read_bytes() == "\ud800".encode(errors="surrogatepass") * 20_000


# asyncio


def run(coroutine):
    result = asyncio.run(asyncio.wait_for(coroutine, SOON))
    # The loop's own, of which each has waited for a process that is gone.
    for thread in threading.enumerate():
        if thread.name.startswith("asyncio-waitpid"):
            thread.join(SOON)
    return result


async def start(program):
    return await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def test_asyncio_reads_both_pipes():
    program = "import sys\nfor file in sys.stdout, sys.stderr: file.write(file.name + 'x' * 1_000_000)\nsys.exit(3)"
    out, err = TextRetainer(TextHead(8)), TextRetainer(TextHeadTail(8, 3))

    async def main():
        return await recipe("asyncio")["communicate"](await start(program), out, err)

    assert run(main()) == 3
    assert (out.finish().text, out.seen_bytes) == ("<stdout>", 1_000_008)
    assert (err.finish().text, err.seen_bytes) == ("<stderr>xxx", 1_000_008)


def test_asyncio_ends_the_process_at_the_probe():
    out, err = TextRetainer(TextHead(4, stop="stop_when_full")), TextRetainer(TextTail(100))

    async def main():
        return await recipe("asyncio")["communicate"](await start("while True: print('y')"), out, err)

    assert run(main()) == -9
    assert out.finish().text == "y\ny\n"
    assert out.finish().omitted_bytes.kind == "at_least"


def test_asyncio_timeout_loses_nothing():
    out, err = TextRetainer(TextTail(100)), TextRetainer(TextTail(100))

    async def main():
        process = await start("import time\nprint('before', flush=True)\ntime.sleep(1000)")
        read = asyncio.create_task(recipe("asyncio")["communicate"](process, out, err))
        while not out.seen_bytes:
            await asyncio.sleep(0.01)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await read
        assert process.returncode is None
        process.kill()
        await process.wait()

    run(main())
    assert out.finish().text == "before\n"


# logging


@pytest.fixture
def logger():
    logger = logging.Logger("recipe")
    yield logger
    for handler in logger.handlers:
        handler.close()


def test_logging_keeps_the_first_and_the_last_lines(logger):
    handler = recipe("logging")["RetainingHandler"](75, 75)
    logger.addHandler(handler)
    for number in range(100_000):
        logger.info("%06d", number)
    lines = handler.log.finish().render().splitlines()
    assert lines == [
        *(f"{number:06}" for number in range(10)),
        promised("logging", "[Omitted 99980 lines.]"),
        *(f"{number:06}" for number in range(99_990, 100_000)),
    ]


def test_logging_holds_no_record_and_survives_a_bad_one(logger, monkeypatch):
    handler = recipe("logging")["RetainingHandler"]()
    logger.addHandler(handler)
    failed = []
    monkeypatch.setattr(handler, "handleError", lambda record: failed.append(record.msg))

    class Thing:
        pass

    thing = Thing()
    gone = weakref.ref(thing)
    logger.warning("of a %s", thing)
    del thing
    assert gone() is None
    logger.warning("%d", "no number")
    assert failed == ["%d"]
    logger.warning("after")
    assert re.fullmatch(r"of a <.*Thing.*>\nafter\n", handler.log.finish().text)


# stream


class Source:
    """An endless asynchronous generator that tells when it was closed."""

    def __init__(self, chunk):
        self.chunk, self.taken, self.closed = chunk, 0, False

    async def chunks(self):
        try:
            while True:
                self.taken += 1
                yield self.chunk
        finally:
            self.closed = True


@pytest.mark.parametrize("chunk", ["x", "0123456789", "é€😀", "汉" * 1000])
def test_stream_passes_on_up_to_the_limit(chunk):
    source = Source(chunk)

    async def main():
        # At once, not only where the loop clears up.
        chunks = source.chunks()
        parts = [part async for part in recipe("stream")["bounded"](chunks, 100)]
        assert source.closed
        return parts

    *parts, notice = asyncio.run(main())
    size = len(chunk.encode())
    assert "".join(parts) == (chunk * 100).encode()[:100].decode(errors="ignore")
    assert notice == "\n[More bytes were omitted. The stream was ended here.]\n"
    assert source.taken == 100 // size + 1


def test_stream_that_fits_is_passed_on_whole_as_it_comes():
    asked = []

    async def chunks():
        for chunk in ("one", "two", "three"):
            asked.append(chunk)
            yield chunk

    async def main():
        async for part in recipe("stream")["bounded"](chunks(), 11):
            assert asked[-1] == part

    asyncio.run(main())
    assert asked == ["one", "two", "three"]


def test_stream_closes_its_source_where_the_client_goes_away():
    source = Source("x")

    async def main():
        chunks = source.chunks()
        parts = recipe("stream")["bounded"](chunks)
        assert await anext(parts) == "x"
        assert not source.closed
        await parts.aclose()
        assert source.closed

    asyncio.run(main())


def test_stream_in_starlette():
    responses = pytest.importorskip("starlette.responses", reason="Starlette is not installed")
    sent = []

    async def send(message):
        sent.append(message.get("body", b""))

    async def receive():
        await asyncio.Event().wait()

    async def main():
        source = recipe("stream")["bounded"](Source("0123456789").chunks(), 25)
        response = responses.StreamingResponse(source, media_type="text/plain")
        await response({"type": "http", "method": "GET", "headers": []}, receive, send)

    asyncio.run(main())
    assert b"".join(sent).startswith(b"0123456789012345678901234\n[More bytes were omitted. ")


# MCP


def tool_result():
    return {
        "content": [
            {"type": "text", "text": "short"},
            {"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"},
            {"type": "text", "text": "x" * 100_000, "annotations": {"audience": ["assistant"]}},
        ],
        "structuredContent": {"status": 0},
        "isError": False,
    }


def test_mcp_texts_are_within_the_limit():
    bounded_tool_result = recipe("MCP")["bounded_tool_result"]
    before = tool_result()
    after = bounded_tool_result(before)
    assert before == tool_result()
    short, image, text = after["content"]
    assert [short, image] == before["content"][:2]
    assert len(text["text"]) == 12_500
    assert text["text"].split("\n")[1] == promised("MCP", "[Omitted 87524 bytes.]")
    assert {**text, "text": ""} == {**before["content"][2], "text": ""}
    assert {**after, "content": []} == {**before, "content": []}
    assert bounded_tool_result({"content": []}) == {"content": []}


def test_mcp_package_takes_the_result():
    types = pytest.importorskip("mcp.types", reason="the mcp package is not installed")
    result = types.CallToolResult.model_validate(tool_result()).model_dump(by_alias=True)
    bounded = recipe("MCP")["bounded_tool_result"](result)
    bounded = types.CallToolResult.model_validate(bounded).model_dump(by_alias=True)
    assert len(bounded["content"][2]["text"]) == 12_500
    assert bounded["content"][:2] == result["content"][:2]
    assert bounded["structuredContent"] == tool_result()["structuredContent"]
