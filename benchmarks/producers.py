"""Programs that write: three of ours in C, which number what they write, and two that everybody has."""

import shutil
import subprocess
from pathlib import Path

PRODUCER = r"""
#include <stdlib.h>
#include <unistd.h>
/* Writes so many bytes by so many at a time: lines of 80 characters. Each write begins with its number. */
int main(int count, char **words)
{
    static char block[65536];
    if (count != 3)
        return 2;
    size_t size = atoll(words[1]);
    long long left = atoll(words[2]);
    if (size < 32 || size > sizeof block)
        return 2;
    for (size_t i = 0; i < size; i++)
        block[i] = i % 80 == 79 || i == size - 1 ? '\n' : i < 16 ? '0' : 'a' + i % 26;
    while (left > 0) {
        size_t length = left < (long long)size ? (size_t)left : size;
        for (size_t done = 0; done < length;) {
            ssize_t written = write(1, block + done, length - done);
            if (written < 0)
                return 1;
            done += written;
        }
        left -= length;
        for (char *digit = block + 15; digit >= block && ++*digit > '9'; digit--)
            *digit = '0';
    }
    return 0;
}
"""
SINK = r"""
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
/* The limit: reads 64 KiB at a time into memory that begins at a page, throws it away, and says how much it was. */
int main(void)
{
    void *block;
    long long seen = 0;
    ssize_t size;
    if (posix_memalign(&block, 4096, 65536))
        return 1;
    while ((size = read(0, block, 65536)) > 0)
        seen += size;
    printf("%lld\n", seen);
    return size < 0;
}
"""
# Repeated until that is enough; the command ends early when nobody reads it any more.
GIT_LOG = """
    number=0
    while [ "$number" -lt "$1" ]; do
        git -C "$0" --no-pager log -p --no-color --no-ext-diff || exit
        number=$((number + 1))
    done
"""
CHECKOUT = Path(__file__).parent.parent

TITLES = {
    "blocks": "writes of 64 KiB",
    "pages": "writes of 4 KiB",
    "lines": "writes of one line of 80 bytes",
    "seq": "`seq`",
    "git": "`git log -p`",
}
WRITES = {"blocks": 65536, "pages": 4096, "lines": 80}
# Bytes that take each about as long as another; that of "blocks" is given.
SHARES = {"blocks": 1, "pages": 0.4, "lines": 0.04, "seq": 0.3, "git": 0.04}
ENDLESS = 10**15


def build(folder):
    """Compile the C programs into a folder; returns the names of the producers that there are then."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is not None:
        for name, source in (("producer", PRODUCER), ("sink", SINK)):
            (folder / f"{name}.c").write_text(source)
            subprocess.run([compiler, "-O2", "-o", folder / name, folder / f"{name}.c"], check=True)
    there = {
        **dict.fromkeys(WRITES, compiler is not None),
        "seq": shutil.which("seq") is not None,
        "git": shutil.which("git") is not None and (CHECKOUT / ".git").exists(),
    }
    if not any(there.values()):
        raise SystemExit("nothing here writes what is to be read: a C compiler or `seq` is needed")
    return [name for name in TITLES if there[name]]


def command(folder, producer, size):
    """The words of a command that writes about so many bytes; of ours, exactly so many."""
    if producer in WRITES:
        return [str(folder / "producer"), str(WRITES[producer]), str(size)]
    if producer == "seq":
        # Most of its numbers have six or seven digits.
        return ["seq", str(max(size // 8, 10_000))]
    once = 1 if size >= ENDLESS else seen_by(["sh", "-c", GIT_LOG, str(CHECKOUT), "1"], 0)[0]
    return ["sh", "-c", GIT_LOG, str(CHECKOUT), str(max(round(size / once), 1))]


def seen_by(words, budget):
    """How many bytes a command writes, the first of them and the last of them: found out in the plainest way."""
    seen, head, tail = 0, b"", b""
    with subprocess.Popen(words, stdout=subprocess.PIPE) as process:
        while chunk := process.stdout.read(1 << 20):
            seen += len(chunk)
            head += chunk[: budget - len(head)]
            tail = (tail + chunk)[-budget:] if budget else b""
    if process.returncode != 0 or seen == 0:
        raise SystemExit(f"{' '.join(words)} failed with status {process.returncode} after {seen} bytes")
    return seen, head, tail
