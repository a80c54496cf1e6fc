"""Every vector of tests/conformance: as it stands, then the same stream byte by byte and as one chunk."""

import json
from pathlib import Path

import pytest
from streams import item_strategy, text_strategy

from retention import ItemRetainer, Omitted, PushDecision, TextRetainer

HERE = Path(__file__).parent / "conformance"


def vectors(name):
    with open(HERE / name, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


REFERENCE = vectors("reference.jsonl")
FIELD_CASES = vectors("field-cases.jsonl")


def chunks_of(vector):
    if "str_chunks" in vector:
        return vector["str_chunks"]
    return [bytes.fromhex(chunk) for chunk in vector["hex_chunks"]]


def encoded(chunk):
    # The streams of vectors hold lone surrogates, which count as U+FFFD.
    if isinstance(chunk, bytes):
        return chunk
    return "".join("\ufffd" if "\ud800" <= character <= "\udfff" else character for character in chunk).encode()


def omitted_of(vector):
    if isinstance(vector["omitted"], dict):
        return Omitted(**vector["omitted"])
    if vector["omitted"] == 0:
        return Omitted("none")
    at_least = vector["strategy"].get("stop") == "stop_when_full"
    return Omitted("at_least" if at_least else "exact", vector["omitted"])


def check_text(vector, chunks, decisions=None):
    retainer = TextRetainer(text_strategy(vector["strategy"]))
    answers = [retainer.push(chunk) for chunk in chunks]
    if decisions is not None:
        assert answers == [PushDecision(*decision) for decision in decisions]
    result = retainer.finish()
    assert (result.text, result.truncated, result.omitted_bytes) == (
        vector["text"],
        vector["truncated"],
        omitted_of(vector),
    )
    assert result.seen_bytes == vector.get("seen", result.seen_bytes)


def check_items(vector):
    retainer = ItemRetainer(item_strategy(vector["strategy"]))
    answers = [retainer.push(item) for item in vector["items"]]
    if "decisions" in vector:
        assert answers == [PushDecision(*decision) for decision in vector["decisions"]]
    result = retainer.finish()
    assert (result.items, result.truncated, result.omitted) == (
        vector["kept_items"],
        vector["truncated"],
        omitted_of(vector),
    )
    assert (result.seen, result.kept) == (vector.get("seen", result.seen), vector.get("kept", result.kept))


def check(vector):
    if vector["retainer"] == "items":
        check_items(vector)
        return
    chunks = chunks_of(vector)
    stream = b"".join(map(encoded, chunks))
    check_text(vector, chunks, vector.get("decisions"))
    check_text(vector, [stream[at : at + 1] for at in range(len(stream))])
    check_text(vector, [stream])


def test_there_are_as_many_vectors_as_were_copied():
    assert (len(REFERENCE), len(FIELD_CASES)) == (4000, 34)


@pytest.mark.parametrize("start", range(0, 4000, 500))
def test_reference_vectors(start):
    for number, vector in enumerate(REFERENCE[start : start + 500], start):
        try:
            check(vector)
        except AssertionError as error:
            error.add_note(f"vector {number}: {vector}")
            raise


@pytest.mark.parametrize("vector", FIELD_CASES, ids=lambda vector: vector["about"])
def test_field_cases(vector):
    check(vector)
