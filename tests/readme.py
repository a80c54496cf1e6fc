"""The README taken apart: its blocks of code, its recipes, its tables."""

import re
from pathlib import Path

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")


def blocks(kind):
    return re.findall(rf"^```{kind}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def section(title):
    """What stands under a title, up to the next of its kind."""
    return re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", README, re.MULTILINE | re.DOTALL)[1]


def recipes():
    """The folded parts of "Recipes": the code and the prose of each, by name."""
    found = re.findall(
        r"^<details>\n<summary><b>(.*?)</b>: .*?</summary>\n\n```python\n(.*?)^```\n(.*?)^</details>$",
        section("Recipes"),
        re.MULTILINE | re.DOTALL,
    )
    return {name: (code, " ".join(prose.split())) for name, code, prose in found}


def table(text, *header):
    """The rows of a table: the cells of each."""
    lines = text[text.index(f"| {' | '.join(header)} |") :].partition("\n\n")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def code_in(cell):
    """What is between backticks."""
    return re.findall(r"`([^`]+)`", cell)
