"""What the fuzz targets share: choices read from a fuzzer's bytes, and running a target under Atheris."""

import sys

# Text of each width that CPython stores, with lone surrogates too; where the bytes do not decode, as Latin-1.
DECODERS = [("utf-8", "surrogateescape"), ("latin-1", "strict"), ("utf-16-le", "surrogatepass")]


class Input:
    """The bytes of one run, used up from the first on; when they are used up, every choice is the first."""

    def __init__(self, data: bytes):
        self.data = data
        self.at = 0

    def __bool__(self):
        return self.at < len(self.data)

    def byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1] if self.at <= len(self.data) else 0

    def take(self, size: int) -> bytes:
        self.at += size
        return self.data[self.at - size : self.at]

    def choice(self, choices):
        return choices[self.byte() % len(choices)]

    def flag(self) -> bool:
        return self.byte() % 2 == 1

    def text(self, data: bytes) -> str:
        codec, errors = self.choice(DECODERS)
        try:
            return data.decode(codec, errors)
        except UnicodeDecodeError:
            return data.decode("latin-1")


def fuzz(target, *functions):
    """Run a target for as long as the command line says; the functions are watched beside it for coverage."""
    import atheris

    for function in (target, *functions):
        atheris.instrument_func(function)
    # By its first argument libFuzzer starts the program again, through a shell, where it merges. Inputs are programs:
    # short ones do little. What the command line says comes later, and counts.
    atheris.Setup([f"{sys.executable} {sys.argv[0]}", "-len_control=0", "-max_len=400", *sys.argv[1:]], target)
    atheris.Fuzz()
