"""The extension modules. Everything else about the package is in pyproject.toml.

Build switches, read from the environment here and nowhere else:

RETENTION_COVERAGE=1  counts the lines that run, for gcov, unoptimised: see tests/measure_coverage.py
RETENTION_SANITIZE=1  AddressSanitizer and UndefinedBehaviorSanitizer
RETENTION_DEBUG=1     bounds checked, assertions on, hardly optimised, with symbols
RETENTION_ENGINE=0    without the poll loop, as on a system that is not POSIX: no programs are run, all else works

Builds of different kinds do not share objects: remove build/ between them.
"""

import os

from Cython.Build import cythonize
from setuptools import Extension, setup

COVERAGE, SANITIZE, DEBUG = (
    os.environ.get(f"RETENTION_{switch}") == "1" for switch in ("COVERAGE", "SANITIZE", "DEBUG")
)

# Said outright, because the flags that Python was built with vary between its distributors.
cflags = ["-O3", "-g0"]
ldflags: list[str] = []
if COVERAGE:
    ldflags = ["--coverage"]
    cflags = ["-O0", "-g0", *ldflags]
if SANITIZE:
    ldflags = ["-fsanitize=address,undefined"]
    # Python's own -fwrapv would hide signed overflow; the last word counts.
    cflags = ["-O1", "-g", "-fno-omit-frame-pointer", "-fno-sanitize-recover=undefined", *ldflags, "-fno-wrapv"]
if DEBUG:
    cflags = ["-Og", "-g3", "-UNDEBUG"]
if os.name == "nt":
    cflags = ["/O2"]

DIRECTIVES = {
    "language_level": "3",
    "boundscheck": DEBUG,
    "wraparound": False,
    "initializedcheck": DEBUG,
    "cdivision": True,
    # Real method descriptors: 10 ns less a call. The signature stays visible to inspect all the same.
    "binding": False,
    "embedsignature": True,
    "embedsignature.format": "clinic",
    "autotestdict": False,
    # Locks keep threads apart where no GIL does.
    "freethreading_compatible": True,
    # What the modules share is there once in a process.
    "subinterpreters_compatible": "no",
}

MODULES = ["results", "_window", "_lines", "_cuts", "text", "items", "fitting"]
if os.name == "posix" and os.environ.get("RETENTION_ENGINE") != "0":
    MODULES.append("_engine")

setup(
    ext_modules=cythonize(
        [
            Extension(
                f"retention.{name}",
                [f"retention/{name}.pyx"],
                extra_compile_args=cflags,
                extra_link_args=ldflags,
            )
            for name in MODULES
        ],
        build_dir="build/cython",
        compiler_directives=DIRECTIVES,
        emit_linenums=SANITIZE or DEBUG,
    )
)
