"""What tests compile for themselves: shared libraries, and the checkout in a copy."""

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from watch import SOON


def shared_library(source, library, *flags):
    """Compile a C file; skips the test where there is no compiler. Returns the library's path."""
    words = (os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc").split()
    compiler = next(filter(None, map(shutil.which, [words[0], "cc", "gcc", "clang"])), None)
    if compiler is None:
        pytest.skip("there is no C compiler")
    command = [compiler, "-O1", "-Wall", "-shared", "-fPIC", *flags, "-o", library, source]
    subprocess.run([*command, "-ldl"] if os.uname().sysname == "Linux" else command, check=True, timeout=SOON)
    return library


def copy_checkout(folder):
    """Copy it without what has been built, and without what begins with a dot."""
    built = shutil.ignore_patterns(".*", "build", "dist", "*.so", "*.egg-info", "__pycache__")
    shutil.copytree(Path(__file__).parents[1], folder, ignore=built)


def build_in_place(folder, switch):
    """Build the extension modules of a copy with one of the switches of setup.py; the process, and what it printed."""
    return subprocess.run(
        [sys.executable, "setup.py", "-q", "build_ext", "--inplace"],
        cwd=folder,
        env={**os.environ, switch: "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
