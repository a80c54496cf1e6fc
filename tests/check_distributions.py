"""Run by hand or by CI: wheels and an sdist hold what they should, and nothing else.

python tests/check_distributions.py dist/*
"""

import sys
import tarfile
import zipfile
from email.parser import BytesParser
from pathlib import Path, PurePath

ROOT = Path(__file__).parent.parent
# Of the package, all but what it is compiled from.
KINDS = ("*.py", "*.pyi", "*.pxd", "py.typed")
SHIPPED = {f"retention/{path.name}" for kind in KINDS for path in ROOT.glob(f"retention/{kind}")}
COMPILED = {path.stem for path in ROOT.glob("retention/*.pyx")}
SOURCES = {
    path.relative_to(ROOT).as_posix()
    for pattern in ("retention/*.py*", "retention/*.pxd", "tests/**/*.*", "benchmarks/*.py", "*.md", "*.toml", "*.py")
    for path in ROOT.glob(pattern)
    if "__pycache__" not in path.parts and path.suffix not in (".pyc", ".pyd")
} | {"LICENSE"}


def check_wheel(path: str) -> list[str]:
    windows = "-win" in path
    with zipfile.ZipFile(path) as wheel:
        names = {name for name in wheel.namelist() if not name.endswith("/")}
        metadata = {PurePath(name).name: name for name in names if ".dist-info/" in name}
        fields = BytesParser().parsebytes(wheel.read(metadata["METADATA"]))
        commands = wheel.read(metadata["entry_points.txt"]).decode()
    package = {name for name in names if name.startswith("retention/")}
    modules = {name for name in package if name.endswith((".so", ".pyd"))}
    compiled = {PurePath(name).name.partition(".")[0] for name in modules}
    problems = [f"lacks {name}" for name in SHIPPED - package]
    problems += [f"holds {name}" for name in package - SHIPPED - modules]
    # The engine is for POSIX systems.
    problems += [f"lacks the compiled {name}" for name in COMPILED - compiled - ({"_engine"} if windows else set())]
    problems += [f"holds the compiled {name}" for name in compiled - COMPILED]
    problems += [f"holds {name}" for name in names - package if not name.startswith("output_retention-")]
    problems += [f"lacks {name}" for name in {"LICENSE", "METADATA", "RECORD", "WHEEL"} - set(metadata)]
    problems += [f"needs {need}" for need in fields.get_all("Requires-Dist", []) if "extra ==" not in need]
    if "retain = retention.command:main" not in commands:
        problems.append("lacks the command")
    return problems


def check_sdist(path: str) -> list[str]:
    with tarfile.open(path) as sdist:
        inside = {member.name.partition("/")[2] for member in sdist if member.isfile()}
    problems = [f"lacks {name}" for name in SOURCES - inside]
    return problems + [f"holds {name}" for name in inside - SOURCES if name.endswith((".c", ".so", ".pyc", ".pyd"))]


def main(paths: list[str]) -> int:
    if not paths:
        print("no distributions given")
    status = 0 if paths else 1
    for path in paths:
        problems = check_wheel(path) if path.endswith(".whl") else check_sdist(path)
        print(f"{path}: {'; '.join(sorted(problems)) or 'as it should be'}")
        status |= bool(problems)
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
