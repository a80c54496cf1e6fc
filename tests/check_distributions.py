"""Run by hand or by CI: a wheel and an sdist hold what they should, and nothing else.

python tests/check_distributions.py dist/*
"""

import sys
import tarfile
import zipfile
from pathlib import PurePath

WHEEL_KINDS = {".so", ".pyd", ".py", ".pyi", ".pxd", ".typed"}
SOURCES = {"setup.py", "pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "tests/reference.py", "tests/shim.c"}


def check_wheel(names: list[str]) -> list[str]:
    package = [name for name in names if name.startswith("retention/")]
    kinds = {PurePath(name).suffix or name.rpartition(".")[2] for name in package}
    problems = [f"holds {name}" for name in package if PurePath(name).suffix not in WHEEL_KINDS and "typed" not in name]
    problems += [f"lacks any {kind}" for kind in (".py", ".pyi", ".pxd") if kind not in kinds]
    if "retention/py.typed" not in package:
        problems.append("lacks retention/py.typed")
    if not any(name.endswith((".so", ".pyd")) for name in package):
        problems.append("lacks the compiled modules")
    problems += [f"holds {name}" for name in names if not name.startswith(("retention/", "output_retention-"))]
    return problems


def check_sdist(names: list[str]) -> list[str]:
    inside = {name.partition("/")[2] for name in names}
    problems = [f"lacks {name}" for name in SOURCES - inside]
    problems += [f"lacks any {kind}" for kind in (".pyx", ".pxd") if not any(n.endswith(kind) for n in inside)]
    return problems + [f"holds {name}" for name in inside - SOURCES if name.endswith((".c", ".so", ".pyc"))]


def main(paths: list[str]) -> int:
    status = 0
    for path in paths:
        if path.endswith(".whl"):
            with zipfile.ZipFile(path) as wheel:
                problems = check_wheel(wheel.namelist())
        else:
            with tarfile.open(path) as sdist:
                problems = check_sdist(sdist.getnames())
        print(f"{path}: {'; '.join(sorted(problems)) or 'as it should be'}")
        status |= bool(problems)
    if sorted(path.rpartition(".")[2] for path in paths) != ["gz", "whl"]:
        print("expected one sdist and one wheel")
        status = 1
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
