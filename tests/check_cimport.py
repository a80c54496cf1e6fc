"""Run by CI with an installed wheel, Cython and setuptools: a module of another project is built against it and works.

python tests/check_cimport.py
"""

import importlib
import itertools
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import retention
from retention import TextHeadTail, TextRetainer

OUTSIDE = Path(__file__).parent / "outside.pyx"
SETUP = """
from Cython.Build import cythonize
from setuptools import setup

setup(ext_modules=cythonize("outside.pyx"))
"""
TEXT = "plain, é, €, 汉, 😀 and so on; " * 3


def check(outside):
    data = TEXT.encode()
    assert outside.encoded(TEXT) == data
    assert outside.encoded("\ud800") == "\ufffd".encode()
    budgets = [0, *range(5, 40), len(data)]
    for step, head, tail in itertools.product([1, 7, len(data)], budgets, budgets):
        retainer = TextRetainer(TextHeadTail(head, tail))
        retainer.push(data)
        result = retainer.finish()
        expected = result.head.encode(), result.tail.encode()
        assert outside.ends(data, step, head, tail) == expected, (step, head, tail)


def main():
    package = Path(retention.__file__).parent
    if (package.parent / "setup.py").exists():
        sys.exit(f"{package} is a checkout: this is to see what a wheel holds")
    with tempfile.TemporaryDirectory() as directory:
        shutil.copy(OUTSIDE, directory)
        Path(directory, "setup.py").write_text(SETUP)
        env = {**os.environ, "CFLAGS": "-O1"}
        subprocess.run([sys.executable, "setup.py", "-q", "build_ext", "-i"], cwd=directory, env=env, check=True)
        sys.path.insert(0, directory)
        check(importlib.import_module("outside"))
    print(f"a module built against {package} works")


if __name__ == "__main__":
    main()
