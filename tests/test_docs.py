"""The docstrings: each tells its arguments, its answer, its unit and its errors, and their examples are true."""

import doctest
import importlib
import inspect
import io
import pkgutil
import pydoc
import subprocess
import sys

import pytest

import retention
from retention import (
    ItemHead,
    ItemRetainer,
    Omitted,
    RetainedItems,
    RetainedText,
    RetentionNotice,
    TextHead,
    TextRetainer,
    describe_omitted,
    fit_text,
    format_retention_notice,
    retain_file,
    run,
)
from retention.draining import engine

NAMES = [name for name in retention.__all__ if callable(getattr(retention, name)) and "Strategy" not in name]
NAMES.remove("StopMode")
CLASSES = [name for name in NAMES if isinstance(getattr(retention, name), type)]
METHODS = [
    f"{name}.{member}"
    for name in CLASSES
    for member in sorted(vars(getattr(retention, name)))
    if not member.startswith("_") and callable(getattr(getattr(retention, name), member))
]
FUNCTIONS = [name for name in NAMES if name not in CLASSES] + METHODS

# Loaded with the interpreter or not: what `python -m retention` runs is left out.
MODULES = [f"retention.{module.name}" for module in pkgutil.iter_modules(retention.__path__) if module.name[:2] != "__"]


def found(name):
    value = retention
    for part in name.split("."):
        value = getattr(value, part)
    return value


def docstring(name):
    return inspect.getdoc(found(name))


# What each tells


@pytest.mark.parametrize("name", [name for name in NAMES + METHODS if name not in ("arun", "communicate")])
def test_a_docstring_names_every_argument(name):
    arguments = [argument for argument in inspect.signature(found(name)).parameters if argument != "self"]
    assert [argument for argument in arguments if argument not in docstring(name)] == []


@pytest.mark.parametrize("name", ["arun", "communicate"])
def test_a_function_like_run_refers_to_it(name):
    assert "`run`" in docstring(name)
    like_run = set(inspect.signature(retention.run).parameters)
    assert set(inspect.signature(found(name)).parameters) - like_run <= {"popen"}


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if not name.endswith(".merge")])
def test_a_docstring_says_what_is_returned(name):
    assert any(word in docstring(name) for word in ("Return ", "Returns ", "returns "))


def notice(unit="items"):
    return RetentionNotice("scope", "head", unit, 3, 3, Omitted("none"))


ANSWERS = {
    "TextRetainer.push": lambda: TextRetainer(TextHead(3)).push("text"),
    "TextRetainer.extend": lambda: TextRetainer(TextHead(3)).extend(["text"]),
    "TextRetainer.drain": lambda: TextRetainer(TextHead(3)).drain(io.BytesIO(b"text")),
    "TextRetainer.finish": lambda: TextRetainer(TextHead(3)).finish(),
    "TextRetainer.finish_bytes": lambda: TextRetainer(TextHead(3)).finish_bytes(),
    "TextRetainer.notice": lambda: TextRetainer(TextHead(3)).notice("scope"),
    "TextRetainer.__add__": lambda: TextRetainer(TextHead(3)) + TextRetainer(TextHead(3)),
    "ItemRetainer.push": lambda: ItemRetainer(ItemHead(3)).push(1),
    "ItemRetainer.extend": lambda: ItemRetainer(ItemHead(3)).extend([1]),
    "ItemRetainer.finish": lambda: ItemRetainer(ItemHead(3)).finish(),
    "ItemRetainer.notice": lambda: ItemRetainer(ItemHead(3)).notice("scope"),
    "ItemRetainer.__add__": lambda: ItemRetainer(ItemHead(3)) + ItemRetainer(ItemHead(3)),
    "retain_file": lambda: retain_file(__file__, TextHead(3)),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_a_docstring_names_the_class_of_the_answer(name):
    assert type(ANSWERS[name]()).__name__ in docstring(name)


@pytest.mark.parametrize("name", ["run", "communicate"])
def test_the_docstring_of_what_runs_programs_names_the_class_of_the_answer(name):
    assert "CompletedRun" in docstring(name)


UNITS = {
    "TextHead": ["bytes", "lines"],
    "TextTail": ["bytes", "lines"],
    "TextHeadTail": ["bytes", "lines"],
    "ItemHead": ["items"],
    "ItemTail": ["items"],
    "ItemHeadTail": ["items"],
    "TextRetainer": ["bytes", "lines"],
    "TextRetainer.seen_bytes": ["bytes"],
    "TextRetainer.drain": ["seconds", "bytes"],
    "TextRetainer.notice": ["bytes", "lines"],
    "ItemRetainer.seen": ["items"],
    "ItemRetainer.notice": ["items"],
    "RetainedText": ["bytes", "lines"],
    "RetainedBytes": ["bytes"],
    "RetainedItems": ["items"],
    "Omitted": ["unit"],
    "HeadTailLimit": ["unit"],
    "RetentionNotice": ["units"],
    "DrainResult": ["bytes"],
    "CompletedRun": ["seconds"],
    "Spill": ["bytes"],
    "SpillResult": ["bytes"],
    "fit_text": ["bytes"],
    "run": ["seconds"],
}


@pytest.mark.parametrize("name", UNITS)
def test_a_docstring_says_in_which_unit_it_counts(name):
    assert [unit for unit in UNITS[name] if unit not in docstring(name)] == []


def full_retainer():
    retainer = TextRetainer(TextHead(3))
    retainer.push("text")
    return retainer


def rendered(**words):
    return RetainedItems([1], [1], [], True, Omitted("exact", 1), 2, 1).render(**words)


RAISED = [
    ("TextHead", TypeError, lambda: TextHead(True)),
    ("TextHead", ValueError, lambda: TextHead(-1)),
    ("TextTail", TypeError, lambda: retention.TextTail("3")),
    ("TextTail", ValueError, lambda: retention.TextTail(3, max_lines=-1)),
    ("TextHeadTail", TypeError, lambda: retention.TextHeadTail(3, 0.5)),
    ("TextHeadTail", ValueError, lambda: retention.TextHeadTail(3, -1)),
    ("ItemHead", TypeError, lambda: ItemHead(None)),
    ("ItemHead", ValueError, lambda: ItemHead(3, stop="soon")),
    ("ItemTail", TypeError, lambda: retention.ItemTail("3")),
    ("ItemTail", ValueError, lambda: retention.ItemTail(-1)),
    ("ItemHeadTail", TypeError, lambda: retention.ItemHeadTail(3, None)),
    ("ItemHeadTail", ValueError, lambda: retention.ItemHeadTail(-1, 3)),
    ("TextRetainer", TypeError, lambda: TextRetainer(3)),
    ("TextRetainer", LookupError, lambda: TextRetainer(TextHead(3), errors="forgive")),
    ("TextRetainer.push", TypeError, lambda: full_retainer().push(3)),
    ("TextRetainer.push", BufferError, lambda: full_retainer().push(memoryview(b"text")[::2])),
    ("TextRetainer.extend", TypeError, lambda: full_retainer().extend("text")),
    ("TextRetainer.extend", TypeError, lambda: full_retainer().extend(3)),
    ("TextRetainer.drain", TypeError, lambda: full_retainer().drain(io.StringIO())),
    ("TextRetainer.drain", ValueError, lambda: full_retainer().drain(io.BytesIO(), timeout=1)),
    ("TextRetainer.notice", ValueError, lambda: full_retainer().notice("scope", unit="lines")),
    ("TextRetainer.merge", TypeError, lambda: full_retainer().merge("text")),
    ("TextRetainer.merge", ValueError, lambda: full_retainer().merge(TextRetainer(TextHead(4)))),
    ("ItemRetainer", TypeError, lambda: ItemRetainer(TextHead(3))),
    ("ItemRetainer.extend", TypeError, lambda: ItemRetainer(ItemHead(3)).extend(3)),
    ("ItemRetainer.merge", TypeError, lambda: ItemRetainer(ItemHead(3)).merge([])),
    ("ItemRetainer.merge", ValueError, lambda: ItemRetainer(ItemHead(3)).merge(ItemRetainer(ItemHead(4)))),
    ("Omitted", ValueError, lambda: Omitted("exact")),
    ("Omitted", TypeError, lambda: Omitted("exact", "3")),
    ("RetainedText", TypeError, lambda: RetainedText(b"", "", "", False, Omitted("none"), 0)),
    ("RetainedText.render", TypeError, lambda: full_retainer().finish().render(marker=3)),
    ("RetainedBytes", TypeError, lambda: retention.RetainedBytes("", b"", False, Omitted("none"), 0)),
    ("RetainedItems", TypeError, lambda: RetainedItems((), [], [], False, Omitted("none"), 0, 0)),
    ("RetainedItems.render", TypeError, lambda: rendered(marker=3)),
    ("RetainedItems.render", TypeError, lambda: rendered(line=abs)),
    ("RetentionNotice", ValueError, lambda: notice("pages")),
    ("describe_omitted", TypeError, lambda: describe_omitted(3, "items")),
    ("describe_omitted", ValueError, lambda: describe_omitted(Omitted("none"), "pages")),
    ("format_retention_notice", TypeError, lambda: format_retention_notice("notice", "")),
    ("format_retention_notice", TypeError, lambda: format_retention_notice(notice(), 3)),
    ("fit_text", TypeError, lambda: fit_text(b"text", 3)),
    ("fit_text", ValueError, lambda: fit_text("text", 3, head_share=2)),
    ("retain_file", OSError, lambda: retain_file("no such file", TextHead(3))),
    ("retain_file", TypeError, lambda: retain_file(__file__, 3)),
    ("retain_file", LookupError, lambda: retain_file(__file__, TextHead(3), errors="forgive")),
    ("Spill", TypeError, lambda: retention.Spill(3)),
    ("Spill", ValueError, lambda: retention.Spill("file", -1)),
]


@pytest.mark.parametrize(("name", "error", "call"), RAISED)
def test_a_docstring_names_what_is_raised(name, error, call):
    with pytest.raises(error):
        call()
    assert error.__name__ in docstring(name)


EXIT = [sys.executable, "-c", "raise SystemExit(3)"]
SLEEP = [sys.executable, "-c", "import time; time.sleep(60)"]
RAISED_BY_RUN = [
    (TypeError, lambda: run(EXIT, text=True)),
    (ValueError, lambda: run(EXIT, timeout=-1)),
    (OSError, lambda: run(["no such program"])),
    (subprocess.CalledProcessError, lambda: run(EXIT, check=True)),
    (subprocess.TimeoutExpired, lambda: run(SLEEP, timeout=0.1, check=True)),
]


@pytest.mark.skipif(engine is None, reason="programs are run on POSIX systems only")
@pytest.mark.parametrize(("error", "call"), RAISED_BY_RUN)
def test_the_docstring_of_run_names_what_is_raised(error, call):
    with pytest.raises(error):
        call()
    assert error.__name__ in docstring("run")


# How they read


def test_help_on_the_package_tells_of_every_public_name():
    overview = pydoc.plain(pydoc.render_doc(retention))
    assert [name for name in retention.__all__ if name not in overview.partition("PACKAGE CONTENTS")[0]] == []
    # Each with its own part, also those that are imported at first use.
    listed = overview.partition("PACKAGE CONTENTS")[2]
    assert [name for name in CLASSES if f"class {name}(" not in listed] == []
    assert [name for name in NAMES if name not in CLASSES and f" {name}(" not in listed] == []


def test_what_is_imported_at_first_use_is_listed_before():
    program = "import retention; assert set(retention.__all__) <= set(dir(retention)); import sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert "retention.process" not in done.stdout.split()


# Examples


def docstrings(module):
    """Those of a module, and of what it defines; doctest's own finder passes over compiled methods."""
    yield module.__name__, module.__doc__
    for name, value in vars(module).items():
        if getattr(value, "__module__", None) != module.__name__ or not callable(value):
            continue
        yield name, value.__doc__
        if isinstance(value, type):
            for member, attribute in vars(value).items():
                if callable(attribute) or inspect.isdatadescriptor(attribute):
                    yield f"{name}.{member}", attribute.__doc__


def examples(module):
    names = {name: getattr(retention, name) for name in retention.__all__}
    parser = doctest.DocTestParser()
    tests = [parser.get_doctest(text or "", names, name, module.__file__, 0) for name, text in docstrings(module)]
    return [test for test in tests if test.examples]


def test_there_are_examples_where_a_user_looks_first():
    modules = map(importlib.import_module, ["retention", *MODULES])
    assert {test.name for module in modules for test in examples(module)} >= {
        "retention",
        "TextRetainer",
        "ItemRetainer",
        "fit_text",
        "describe_omitted",
        "format_retention_notice",
        "spill_notice",
    }


@pytest.mark.parametrize("name", ["retention", *MODULES])
def test_the_examples_in_docstrings_are_true(name):
    runner = doctest.DocTestRunner(verbose=False)
    report = []
    for test in examples(importlib.import_module(name)):
        runner.run(test, out=report.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(report)
