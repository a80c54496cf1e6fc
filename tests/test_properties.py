"""Any stream, any budgets, any chunking, any chunk types: equal to the model of the whole stream."""

import pytest
import reference
from hypothesis import given
from hypothesis import strategies as st
from streams import (
    BUFFERS,
    byte_streams,
    chunkings,
    item_strategies,
    line_strategies,
    line_streams,
    text_strategies,
)

from retention import HeadTailLimit, ItemRetainer, TextHeadTail, TextRetainer


@given(text_strategies, byte_streams.flatmap(chunkings), st.sampled_from(["replace", "ignore", "backslashreplace"]))
def test_text_equals_the_model_after_every_push(strategy, chunks, errors):
    retainer = TextRetainer(strategy, errors=errors)
    expected = reference.decisions(strategy, [data for _, data in chunks])
    stream = b""
    for (chunk, data), decision in zip(chunks, expected, strict=True):
        assert retainer.push(chunk) == decision
        stream += data
        assert retainer.finish() == reference.text(strategy, stream, errors)
        assert retainer.finish_bytes() == reference.raw(strategy, stream)
        assert (retainer.seen_bytes, retainer.truncated) == (len(stream), decision.truncated)


@given(line_strategies, (line_streams | byte_streams).flatmap(chunkings), st.booleans(), st.booleans())
def test_lines_equal_the_model_after_every_push(strategy, chunks, whole_lines, count_lines):
    retainer = TextRetainer(strategy, whole_lines=whole_lines, count_lines=count_lines)
    expected = reference.decisions(strategy, [data for _, data in chunks])
    stream = b""
    for (chunk, data), decision in zip(chunks, expected, strict=True):
        assert retainer.push(chunk) == decision
        stream += data
        assert retainer.finish() == reference.text(strategy, stream, "replace", whole_lines, count_lines)
        assert retainer.finish_bytes() == reference.raw(strategy, stream)
        assert retainer.truncated == decision.truncated


@given(line_strategies, line_streams.flatmap(chunkings), st.booleans(), st.sampled_from([1, 40, 300]))
def test_long_chunks_of_lines_equal_the_model(strategy, chunks, whole_lines, repeats):
    # Longer than the blocks in which newlines are counted and characters are encoded.
    retainer = TextRetainer(strategy, whole_lines=whole_lines, count_lines=True)
    for chunk, data in chunks:
        retainer.push(chunk * repeats if isinstance(chunk, str) else data * repeats)
    stream = b"".join(data * repeats for _, data in chunks)
    assert retainer.finish() == reference.text(strategy, stream, "replace", whole_lines, True)


@given(line_strategies, line_streams.flatmap(chunkings))
def test_a_notice_in_lines_says_what_the_result_says(strategy, chunks):
    retainer = TextRetainer(strategy)
    for chunk, _ in chunks:
        retainer.push(chunk)
    result = retainer.finish()
    limits = reference.line_budgets(strategy)
    if limits == (None, None):
        with pytest.raises(ValueError, match="lines"):
            retainer.notice("scope", unit="lines")
        return
    notice = retainer.notice("scope", unit="lines")
    if result.omitted_bytes and not result.omitted_lines:
        assert notice == retainer.notice("scope")
        return
    assert notice.unit == "lines"
    assert notice.omitted == result.omitted_lines
    assert notice.kept == result.seen_lines - result.omitted_lines.count
    expected = {"head": limits[0], "tail": limits[1], "head_tail": HeadTailLimit(*limits)}
    assert notice.limit == expected[strategy.kind]


@given(text_strategies, byte_streams.flatmap(chunkings))
def test_a_result_made_once_at_the_end_equals_the_model(strategy, chunks):
    # Without results in between, which would hide a state that only reading puts right.
    retainer = TextRetainer(strategy)
    for chunk, _ in chunks:
        retainer.push(chunk)
    assert retainer.finish() == reference.text(strategy, b"".join(data for _, data in chunks))


@given(text_strategies, byte_streams.flatmap(chunkings))
def test_extend_equals_pushing_up_to_the_first_stop(strategy, chunks):
    one, other = TextRetainer(strategy), TextRetainer(strategy)
    source = iter([chunk for chunk, _ in chunks])
    answer = one.extend(source)
    kept, decision = True, other.push(b"")
    for chunk, _ in chunks:
        decision = other.push(chunk)
        kept = kept and decision.kept
        if decision.should_stop:
            break
    assert (answer.kept, answer.truncated, answer.should_stop) == (kept, other.truncated, decision.should_stop)
    assert one.finish() == other.finish()
    assert not decision.should_stop or one.seen_bytes <= sum(len(data) for _, data in chunks)


@given(
    text_strategies,
    st.lists(st.text(st.characters() | st.sampled_from("aé€😀\ud800\udfff\ufeff\0"), max_size=30), max_size=6),
)
def test_str_chunks_count_as_their_utf8_with_surrogates_replaced(strategy, chunks):
    retainer = TextRetainer(strategy)
    encoded = ["".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in chunk).encode() for chunk in chunks]
    answers = [retainer.push(chunk) for chunk in chunks]
    assert answers == reference.decisions(strategy, encoded)
    assert retainer.finish() == reference.text(strategy, b"".join(encoded))


@given(
    st.sampled_from(["é", "汉", "😀", "aé", "a汉", "汉😀", "a\ud800é"]),
    st.integers(0, 3000),
    st.integers(0, 3000),
    st.integers(0, 3000),
    st.integers(1, 3),
)
def test_long_str_chunks_are_encoded_only_where_they_are_kept(pattern, repeats, head, tail, pushes):
    # Long against the budgets, and against the blocks in which characters are encoded.
    strategy = TextHeadTail(head, tail)
    chunk = pattern * repeats
    encoded = chunk.encode("utf-8", "surrogatepass").replace(b"\xed\xa0\x80", b"\xef\xbf\xbd")
    retainer = TextRetainer(strategy)
    for _ in range(pushes):
        retainer.push("x")
        retainer.push(chunk)
    assert retainer.finish() == reference.text(strategy, (b"x" + encoded) * pushes)


@given(
    st.integers(0, 9000),
    st.integers(0, 9000),
    st.lists(st.tuples(st.integers(0, 12000), st.sampled_from([*BUFFERS])), max_size=6),
)
def test_large_chunks_equal_the_model(head, tail, sizes):
    # Sizes about those of pages and blocks, where copying changes its way.
    strategy = TextHeadTail(head, tail)
    retainer = TextRetainer(strategy)
    numbers = bytes(range(256)) * 64
    stream = b""
    for size, kind in sizes:
        data = numbers[len(stream) % 251 :][:size]
        retainer.push(BUFFERS[kind](data))
        stream += data
        assert retainer.finish_bytes() == reference.raw(strategy, stream)


@given(item_strategies, st.lists(st.integers(), max_size=40))
def test_items_equal_the_model_after_every_push(strategy, items):
    retainer = ItemRetainer(strategy)
    expected = reference.decisions(strategy, [[item] for item in items])
    for count, (item, decision) in enumerate(zip(items, expected, strict=True), 1):
        assert retainer.push(item) == decision
        assert retainer.finish() == reference.items(strategy, items[:count])
        assert (retainer.seen, retainer.truncated) == (count, decision.truncated)


@given(
    item_strategies, st.lists(st.lists(st.integers(), max_size=30), max_size=5), st.sampled_from([list, tuple, iter])
)
def test_extend_of_items_equals_pushing_up_to_the_first_stop(strategy, batches, make):
    one, other = ItemRetainer(strategy), ItemRetainer(strategy)
    for batch in batches:
        answer = one.extend(make(batch))
        kept, stop = True, False
        for item in batch:
            decision = other.push(item)
            kept, stop = kept and decision.kept, decision.should_stop
            if stop:
                break
        assert (answer.kept, answer.truncated, answer.should_stop) == (kept, other.truncated, stop)
        assert one.finish() == other.finish()
