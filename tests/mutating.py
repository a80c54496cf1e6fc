"""The mutants of a source of the library: what may be changed in it, one small fault at a time."""

import collections
import io
import re
import tokenize
from pathlib import Path

TOP = Path(__file__).parent.parent

OPERATORS = {
    "<": ("<=", ">="),
    "<=": ("<", ">"),
    ">": (">=", "<="),
    ">=": (">", "<"),
    "==": ("!=",),
    "!=": ("==",),
    "+": ("-",),
    "-": ("+",),
    "+=": ("-=", "="),
    "-=": ("+=", "="),
    "|=": ("=",),
    "&&": ("||",),
    "||": ("&&",),
    "and": ("or",),
    "or": ("and",),
    "not": ("",),
    "True": ("False",),
    "False": ("True",),
    "min": ("max",),
    "max": ("min",),
}

# What of a line of C may be such an operator, or a number.
C_TOKEN = re.compile(r"(?<= )(?:[-+|]=|[<>=!]=|[<>+-]|&&|\|\|)(?= )|\b(?:0x[\da-fA-F]+|\d+)\b")
FUNCTION = re.compile(r"\s*(cdef(?! class\b)|cpdef|def)\b[^=]*?\(")

Mutant = collections.namedtuple("Mutant", "path line before after")


def mutants_of(path):
    source = (TOP / "retention" / path).read_text()
    return [*expressions_changed(path, source), *statements_left_out(path, source), *c_mutants(path, source)]


def expressions_changed(path, source):
    lines = source.splitlines()
    found = []
    depth = 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        depth += (token.type == tokenize.INDENT) - (token.type == tokenize.DEDENT)
        if depth == 0 or token.type not in (tokenize.OP, tokenize.NAME, tokenize.NUMBER):
            continue
        row, column = token.start
        line = lines[row - 1]
        # A larger array is no fault.
        if re.fullmatch(r"\s+(cdef |(const )?[\w ]+ \*?\w+\[)[^=(]*", line):
            continue
        # Nor is what a function answers besides an exception, nor an argument that may be None.
        if line[:column].endswith("except -") or line[token.end[1] :].startswith(" None"):
            continue
        # Comparisons and signs stand between spaces; a cast, a pointer or a default does not.
        spaced = line[column - 1 : column] == " " and line[token.end[1] : token.end[1] + 1] in (" ", "(")
        if token.type == tokenize.NUMBER:
            others = (str(int(token.string, 0) + 1),) if re.fullmatch(r"0x[\da-fA-F]+|[\d_]+", token.string) else ()
        elif token.string in ("min", "max"):
            others = OPERATORS[token.string] if line[token.end[1] : token.end[1] + 1] == "(" else ()
        elif token.string in ("True", "False"):
            others = OPERATORS[token.string]
        else:
            others = OPERATORS.get(token.string, ()) if spaced else ()
        found += [
            Mutant(path, row, line, line[:column] + other + line[token.end[1] :].lstrip(" " if not other else ""))
            for other in others
        ]
    return found


def statements_left_out(path, source):
    """Each assignment and call in a function that is a statement of its own on a line, replaced by nothing."""
    statement = re.compile(r"( {4,})(?!return\b|cdef\b|def\b|raise\b)[\w.\[\]]+( [-+|]?= .*[^,({\[\\]|\(.*\))$")
    lines = source.splitlines()
    single = [(first, lines[first - 1]) for first, last in statements_of(source) if first == last]
    matches = [(row, line, statement.fullmatch(line)) for row, line in single]
    return [Mutant(path, row, line, match[1] + "pass") for row, line, match in matches if match]


def c_mutants(path, source):
    """The same of the functions that are written in C."""
    statement = re.compile(r"( +)(?!return\b)(?:[\w\[\]*]+ [-+|]?= .*|\w+\(.*\)|break);")
    lines = source.splitlines()
    found = []
    for _, first, last in c_functions(source):
        for row in range(first + 1, last):
            line = lines[row - 1]
            if line.lstrip().startswith("/*"):
                continue
            for token in C_TOKEN.finditer(line):
                # A larger array is no fault.
                if line[token.start() - 1] == "[" and line.endswith("{0};"):
                    continue
                others = OPERATORS.get(token[0]) or [str(int(token[0], 0) + 1)]
                found += [
                    Mutant(path, row, line, line[: token.start()] + other + line[token.end() :]) for other in others
                ]
            if match := statement.fullmatch(line):
                found.append(Mutant(path, row, line, match[1] + ";"))
    return found


def show(mutant):
    return f"{mutant.path}:{mutant.line}\n    - {mutant.before.strip()}\n    + {mutant.after.strip()}"


def statements_of(source):
    """The statements inside of functions by their rows, the first and the last; of a compound one, its header."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    lines = source.splitlines()
    # Whether each block that is open here is in a function.
    blocks = [False]
    first = header = None
    for token in tokens:
        if token.type == tokenize.INDENT:
            blocks.append(blocks[-1] or bool(FUNCTION.match(header)))
        elif token.type == tokenize.DEDENT:
            blocks.pop()
        elif token.type == tokenize.NEWLINE:
            header = "\n".join(lines[first - 1 : token.start[0]])
            if blocks[-1]:
                yield first, token.start[0]
            first = None
        elif token.type not in (tokenize.NL, tokenize.COMMENT) and first is None:
            first = token.start[0]


def c_functions(source):
    """The functions in C within a source of Cython: the name, the first row and the last. Not those without a GIL."""
    name = None
    left_out = False
    for row, line in enumerate(source.splitlines(), 1):
        if re.match(r"    #(if|else|endif)", line):
            left_out = line == "    #ifdef Py_GIL_DISABLED"
        elif match := re.fullmatch(r"    static (?:inline )?[\w *]*?(\w+)\(.*\)", line):
            name, first = match[1], row
        elif line == "    }" and name:
            if not left_out:
                yield name, first, row
            name = None
