"""Shared libraries that tests compile for themselves."""

import os
import shutil
import subprocess
import sysconfig

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
