"""The public surface: its names, what importing it costs, signatures, docstrings."""

import importlib
import inspect
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import retention
from retention import fitting, items, markers, notices, results, strategies, text

NAMES = [
    "CompletedRun",
    "DrainResult",
    "HeadTailLimit",
    "ItemHead",
    "ItemHeadTail",
    "ItemRetainer",
    "ItemRetentionStrategy",
    "ItemTail",
    "Omitted",
    "PushDecision",
    "RetainedBytes",
    "RetainedItems",
    "RetainedText",
    "RetentionNotice",
    "Spill",
    "SpillResult",
    "StopMode",
    "TextHead",
    "TextHeadTail",
    "TextRetainer",
    "TextRetentionStrategy",
    "TextTail",
    "arun",
    "communicate",
    "describe_omitted",
    "fit_text",
    "format_retention_notice",
    "retain_file",
    "run",
    "spill_notice",
]
# Names of types, which nobody calls.
ALIASES = ["ItemRetentionStrategy", "StopMode", "TextRetentionStrategy"]
CALLABLES = [name for name in NAMES if name not in ALIASES]
CLASSES = [name for name in CALLABLES if isinstance(getattr(retention, name), type)]

# The methods and properties of each public class; what strategies, results and notices have besides is data.
METHODS = {
    "TextRetainer": ["drain", "extend", "finish", "finish_bytes", "merge", "notice", "push"],
    "ItemRetainer": ["extend", "finish", "merge", "notice", "push"],
    "RetainedText": ["render"],
    "RetainedItems": ["render"],
}
PROPERTIES = {
    "TextRetainer": ["seen_bytes", "strategy", "truncated", "whole_lines"],
    "ItemRetainer": ["seen", "strategy", "truncated"],
}
RUN = (
    "(args, *, stdout=TextHeadTail(head_bytes=8192, tail_bytes=8192, head_lines=None, tail_lines=None), "
    "stderr=TextHeadTail(head_bytes=8192, tail_bytes=8192, head_lines=None, tail_lines=None), "
    "input=None, timeout=None, grace=0.5, check=False, spill=None, **popen)"
)
SIGNATURES = {
    "run": RUN,
    "arun": RUN,
    "communicate": RUN.replace("args", "popen").replace(", spill=None, **popen", ""),
    "CompletedRun": "(args, returncode, stdout, stderr, timed_out, stopped, eof, elapsed, spill=None)",
    "DrainResult": "(status, nbytes)",
    "Spill": "(path, max_bytes=None)",
    "SpillResult": "(path, nbytes, complete, error)",
    "spill_notice": "(result)",
    "retain_file": "(path, strategy, *, errors='replace', whole_lines=False, count_lines=False)",
    "TextRetainer.merge": "(self, later, /)",
    "ItemRetainer.merge": "(self, later, /)",
    "TextRetainer.drain": "(self, /, source, *, timeout=None)",
    "TextHead": "(max_bytes, *, max_lines=None, stop='read_to_end')",
    "TextTail": "(max_bytes, *, max_lines=None)",
    "TextHeadTail": "(head_bytes, tail_bytes, *, head_lines=None, tail_lines=None)",
    "ItemHead": "(max_items, *, stop='read_to_end')",
    "ItemTail": "(max_items)",
    "ItemHeadTail": "(head_items, tail_items)",
    "TextRetainer": "(strategy, *, errors='replace', whole_lines=False, count_lines=False)",
    "TextRetainer.push": "(self, chunk, /)",
    "TextRetainer.extend": "(self, chunks, /)",
    "TextRetainer.finish": "(self, /)",
    "TextRetainer.finish_bytes": "(self, /)",
    "TextRetainer.notice": "(self, scope, /, unit='bytes')",
    "ItemRetainer": "(strategy)",
    "ItemRetainer.push": "(self, item, /)",
    "ItemRetainer.extend": "(self, items, /)",
    "ItemRetainer.finish": "(self, /)",
    "ItemRetainer.notice": "(self, scope, /)",
    "PushDecision": "(kept, truncated, should_stop)",
    "Omitted": "(kind, count=None)",
    "RetainedText": (
        "(text, head, tail, truncated, omitted_bytes, seen_bytes, seen_lines=None, omitted_lines=Ellipsis)"
    ),
    "RetainedText.render": "(self, /, marker=None)",
    "RetainedBytes": "(head, tail, truncated, omitted_bytes, seen_bytes)",
    "RetainedItems": "(items, head, tail, truncated, omitted, seen, kept)",
    "RetainedItems.render": "(self, /, line=None, marker=None)",
    "RetentionNotice": "(scope, strategy, unit, limit, kept, omitted)",
    "HeadTailLimit": "(head, tail)",
    "describe_omitted": "(omitted, unit)",
    "fit_text": "(text, max_bytes, *, head_share=0.5, marker=None, whole_lines=False)",
    "format_retention_notice": "(notice, recovery)",
}


def public(cls):
    return [name for name in vars(cls) if not name.startswith("_")]


# Names


def test_the_public_names_are_these():
    assert retention.__all__ == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_can_be_imported(name):
    assert getattr(importlib.import_module("retention"), name) is not None


def test_a_star_import_brings_the_public_names_and_no_others():
    namespace = {}
    exec("from retention import *", namespace)
    del namespace["__builtins__"]
    assert sorted(namespace) == NAMES


def test_sources_that_are_not_built_say_so(tmp_path):
    shutil.copytree(
        Path(retention.__file__).parent, tmp_path / "retention", ignore=shutil.ignore_patterns("*.so", "*.pyd")
    )
    # Without the packages of the site: an editable installation would still find the built modules.
    program = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import retention"
    done = subprocess.run([sys.executable, "-S", "-c", program], capture_output=True, text=True, timeout=60)
    message = done.stderr.splitlines()[-1]
    assert message.startswith(f"ImportError: {tmp_path / 'retention'} holds the sources of retention, not built")


def test_a_compiled_module_that_is_missing_says_so():
    program = "import sys; sys.modules['retention.fitting'] = None; import retention"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    message = done.stderr.splitlines()[-1]
    assert message.startswith(
        f"ImportError: {Path(retention.__file__).parent} holds the sources of retention, not built"
    )


@pytest.mark.parametrize("name", CALLABLES)
def test_a_public_name_says_where_it_is_defined(name):
    value = getattr(retention, name)
    assert value.__module__.startswith("retention.")
    assert (value.__name__, value.__qualname__) == (name, name)
    assert getattr(sys.modules[value.__module__], name) is value


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_has_no_public_methods_but_these(name):
    cls = getattr(retention, name)
    assert [method for method in sorted(public(cls)) if callable(getattr(cls, method))] == METHODS.get(name, [])


@pytest.mark.parametrize("name", PROPERTIES)
def test_a_retainer_has_no_public_properties_but_these(name):
    cls = getattr(retention, name)
    assert sorted(set(public(cls)) - set(METHODS[name])) == PROPERTIES[name]


def test_a_name_that_the_package_lacks_cannot_be_imported():
    with pytest.raises(ImportError, match="cannot import name 'TextMiddle'"):
        exec("from retention import TextMiddle", {})


# What importing costs


def modules_after(statement):
    """The modules that a fresh interpreter has loaded after the statement, and not before."""
    # Without site-packages, whose start-up code loads what it likes, and apart from the environment.
    root = str(Path(retention.__file__).parent.parent)
    program = (
        f"import sys; sys.path.insert(0, {root!r}); sys.dont_write_bytecode = True; before = set(sys.modules);"
        f"{statement}; print(*sorted(set(sys.modules) - before))"
    )
    run = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    assert run.stderr == ""
    return set(run.stdout.split())


def test_importing_loads_the_package_and_nothing_expensive():
    loaded = modules_after("import retention")
    assert {"retention", "retention.text", "retention.items", "retention.notices"} <= loaded
    expensive = ["asyncio", "contextlib", "dataclasses", "enum", "inspect", "re", "subprocess", "threading", "typing"]
    assert [name for name in expensive if name in loaded] == []


def test_retaining_loads_nothing_expensive_either():
    loaded = modules_after(
        "import retention as r; t = r.TextRetainer(r.TextTail(3)); t.push('abcdé'); t.finish(); t.finish_bytes();"
        "r.format_retention_notice(t.notice('x'), ''); i = r.ItemRetainer(r.ItemHead(3)); i.extend([1]); i.finish()"
    )
    assert [name for name in ("asyncio", "dataclasses", "re", "subprocess", "typing") if name in loaded] == []


def test_lines_markers_and_fitting_load_nothing_expensive_either():
    loaded = modules_after(
        "import retention as r; t = r.TextRetainer(r.TextTail(9, max_lines=1), whole_lines=True); t.push('a\\nbé\\n');"
        "t.finish().render(); t.notice('x', unit='lines'); r.fit_text('é' * 99, 50, whole_lines=True);"
        "i = r.ItemRetainer(r.ItemHead(1)); i.extend([1, 2]); i.finish().render()"
    )
    assert [name for name in ("asyncio", "dataclasses", "re", "subprocess", "typing") if name in loaded] == []


def test_typing_is_loaded_for_who_asks_for_the_stop_modes():
    assert "typing" in modules_after("import retention; retention.StopMode")


def test_importing_prints_nothing_and_raises_no_warning():
    # Through the installation that the tests run against, with all warnings as errors.
    program = "import json, retention; print(json.dumps(retention.__all__))"
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    assert (json.loads(run.stdout), run.stderr) == (NAMES, "")


# Signatures


def test_there_is_a_signature_for_everything_that_can_be_called():
    methods = [f"{cls}.{name}" for cls, names in METHODS.items() for name in names]
    assert sorted(SIGNATURES) == sorted(CALLABLES + methods)


@pytest.mark.parametrize("name", SIGNATURES)
def test_the_signature_is_visible(name):
    value = retention
    for part in name.split("."):
        value = getattr(value, part)
    signature = inspect.signature(value)
    bare = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in signature.parameters.values()]
    assert str(inspect.Signature(bare)) == SIGNATURES[name]


def arguments(cls, *kinds):
    parameters = inspect.signature(cls).parameters.values()
    return tuple([parameter.name for parameter in parameters if not kinds or parameter.kind in kinds])


@pytest.mark.parametrize("name", [name for name in CLASSES if name not in PROPERTIES])
def test_the_fields_to_match_are_the_arguments_that_may_go_without_a_name(name):
    cls = getattr(retention, name)
    assert cls.__match_args__ == arguments(cls, inspect.Parameter.POSITIONAL_OR_KEYWORD)


@pytest.mark.parametrize("name", [name for name in CLASSES if name not in PROPERTIES])
def test_every_argument_is_a_field(name):
    cls = getattr(retention, name)
    fields = set(public(cls)) - set(METHODS.get(name, [])) - {"kind"}
    assert fields == set(arguments(cls)) - {"kind"}


@pytest.mark.parametrize("name", [name for name in CLASSES if hasattr(getattr(retention, name), "__slots__")])
def test_the_slots_of_a_frozen_class_are_its_arguments_in_their_order(name):
    cls = getattr(retention, name)
    assert cls.__slots__ == arguments(cls)


# Docstrings


@pytest.mark.parametrize(
    "module",
    [retention, fitting, items, markers, notices, results, strategies, text],
    ids=lambda one: one.__name__,
)
def test_a_module_has_a_docstring(module):
    assert inspect.getdoc(module).split("\n\n")[0].endswith(".")


@pytest.mark.parametrize("name", CALLABLES)
def test_a_public_name_has_a_docstring_that_begins_with_a_sentence(name):
    first = inspect.getdoc(getattr(retention, name)).split("\n\n")[0]
    assert first.endswith(".")


@pytest.mark.parametrize("name", PROPERTIES)
def test_a_method_or_property_of_a_retainer_has_a_docstring(name):
    cls = getattr(retention, name)
    # What is set by the constructor is described with its argument.
    silent = [member for member in sorted(public(cls)) if not getattr(cls, member).__doc__]
    assert silent == [field for field in PROPERTIES[name] if field in ("strategy", "whole_lines")]
    assert [field for field in silent if f"{field}:" not in cls.__doc__] == []


@pytest.mark.parametrize("name", METHODS)
def test_a_method_has_a_docstring(name):
    cls = getattr(retention, name)
    assert [method for method in METHODS[name] if not getattr(cls, method).__doc__] == []


@pytest.mark.parametrize("name", [name for name in CLASSES if hasattr(getattr(retention, name), "max_lines")])
def test_the_docstring_of_a_strategy_names_its_budget_in_lines(name):
    assert "lines" in getattr(retention, name).__doc__


@pytest.mark.parametrize("argument", ["errors:", "whole_lines:", "count_lines:"])
def test_the_docstring_of_a_text_retainer_describes_each_option(argument):
    assert argument in retention.TextRetainer.__doc__


@pytest.mark.parametrize("name", [name for name in CLASSES if name.startswith("Retained") or name == "PushDecision"])
def test_the_docstring_of_a_result_describes_each_field(name):
    cls = getattr(retention, name)
    assert [field for field in cls.__match_args__ if field not in cls.__doc__] == []


@pytest.mark.parametrize("name", CLASSES)
def test_no_docstring_repeats_the_signature(name):
    # Compiled classes hold it in their docstrings, from where Python takes it into the signature.
    assert "--" not in getattr(retention, name).__doc__
