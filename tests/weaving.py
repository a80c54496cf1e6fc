"""Many mutants in one build of the library, each behind its number."""

import collections
import re

from compiling import build_in_place
from mutating import TOP, c_functions, statements_of

# The number of the mutant that is alive, 0 for none, is in a file, which every process of the tests looks at.
NUMBER = '''
cdef extern from *:
    """
    #ifndef MUTANT
    #define MUTANT (*mutant_number)
    #include <fcntl.h>
    #include <stdlib.h>
    #include <sys/mman.h>
    #include <unistd.h>
    static const int no_mutant;
    static const int *mutant_number = &no_mutant;
    __attribute__((constructor)) static void map_mutant_number(void)
    {
        const char *path = getenv("MUTANT");
        int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
        if (fd >= 0) {
            mutant_number = mmap(NULL, sizeof(int), PROT_READ, MAP_SHARED, fd, 0);
            close(fd);
        }
    }
    #endif
    """
    const int MUTANT_OF_%s "MUTANT"
'''
HEADER = re.compile(r"(\s*(?:if|elif|while) )(.*)(:)", re.DOTALL)
DECLARATION = re.compile(r"(\s*cdef [^=(]+ = )(.*)()", re.DOTALL)


def weave(path, numbered):
    """A source with these mutants in it, of which one is chosen by its number when the module is imported.

    `numbered` are pairs of a number and a mutant. Returns the source and, for each of its rows, the numbers there.
    """
    source = (TOP / "retention" / path).read_text()
    lines = source.splitlines()
    number_name = "MUTANT_OF_" + re.sub(r"\W", "_", path)
    by_row = collections.defaultdict(list)
    for number, mutant in numbered:
        by_row[mutant.line].append((number, mutant.after))

    def changed(first, last):
        """These rows with each of the mutants in them, after its number."""
        return [
            (number, "\n".join([*lines[first - 1 : row - 1], after, *lines[row:last]]))
            for row in range(first, last + 1)
            for number, after in by_row.get(row, ())
        ]

    rows = {}
    for first, last in statements_of(source):
        if others := changed(first, last):
            text = choice_of(number_name, "\n".join(lines[first - 1 : last]), others)
            if text:
                rows[first] = last, text, [number for number, _ in others]
    for name, first, last in c_functions(source):
        if others := changed(first, last):
            text = choice_of_functions(name, "\n".join(lines[first - 1 : last]), others)
            rows[first] = last, text, [number for number, _ in others]
    woven, numbers = [], []
    row = 1
    while row <= len(lines):
        last, text, here = rows.get(row, (row, lines[row - 1], []))
        if re.match(r"(from|import|cimport)\b", text) and number_name:
            text = NUMBER % number_name.removeprefix("MUTANT_OF_") + text
            number_name = None
        woven.append(text)
        numbers += [here] * (text.count("\n") + 1)
        row = last + 1
    return "\n".join(woven) + "\n", numbers


def choice_of(number_name, text, changed):
    """A statement of Cython, or what stands in its place by the number; None where that cannot be written."""
    match = HEADER.fullmatch(text) or DECLARATION.fullmatch(text)
    if match:
        before, expression, after = match.groups()
        # Conditions of one type, or Cython makes Python objects of them.
        form = "not not ({})" if after else "({})"
        expression = form.format(expression)
        for number, other in changed:
            if not (other.startswith(before) and other.endswith(after)):
                return None
            inner = form.format(other[len(before) : len(other) - len(after)])
            expression = f"({inner} if {number_name} == {number} else {expression})"
        return before + expression + after
    indent = text[: len(text) - len(text.lstrip())]
    if text.endswith(":") or text.lstrip().startswith(("cdef ", "@")):
        return None
    branches = "".join(
        f"{indent}{'el' if at else ''}if {number_name} == {number}:\n{indent}    {other.lstrip()}\n"
        for at, (number, other) in enumerate(changed)
    )
    return f"{branches}{indent}else:\n{indent}    {text.lstrip()}"


def choice_of_functions(name, text, changed):
    """A function of C, those that stand in its place, and one name for them all."""
    called = f"{name}_0"
    functions = [text.replace(f"{name}(", f"{called}(", 1)]
    for number, other in changed:
        functions.append(other.replace(f"{name}(", f"{name}_{number}(", 1))
        called = f"MUTANT == {number} ? {name}_{number} : {called}"
    return "\n".join([*functions, f"    #define {name} ({called})"])


def weave_all(folder, mutants):
    """Put all mutants that can be into a copy of the checkout, and build it. Returns their numbers, from 1."""
    paths = [path for path in dict.fromkeys(mutant.path for mutant in mutants) if not path.endswith(".py")]
    unfit = set()
    while True:
        rows = {}
        for path in paths:
            numbered = [(n, mutant) for n, mutant in enumerate(mutants, 1) if mutant.path == path and n not in unfit]
            source, rows[path] = weave(path, numbered)
            (folder / "retention" / path).write_text(source)
        done = build_in_place(folder, "RETENTION_DEBUG")
        if done.returncode == 0:
            return {number for numbers in rows.values() for here in numbers for number in here}
        # Those on the lines that the compilers complain of.
        places = re.findall(r"^[\w/.-]*?(\w+\.p(?:yx|xd)):(\d+):\d+:(?! warning| note)", done.stdout, re.MULTILINE)
        blamed = {number for path, row in places if path in rows for number in rows[path][int(row) - 1]}
        # And the functions in C that they complain of, which end with the number.
        functions = re.findall(r"In function \W\w+_(\d+)\W:((?:\n(?!.*In function).*)*)", done.stdout)
        blamed |= {int(number) for number, said in functions if ": error:" in said} - {0}
        if not blamed:
            raise RuntimeError(f"the checkout does not build:\n{done.stdout}")
        unfit |= blamed
