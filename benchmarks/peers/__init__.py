"""What one would use instead of retention, each in the same shape, so that one loop checks and times them all.

texts.py, items.py and lines.py hold classes, and at their end a tuple of them. programs.py runs peers in other
languages by a protocol in JSON. A further peer is one more class, or one more program, and its place in the tuple.
"""

EVERY_KIND = ("head", "tail", "head_tail")


class Peer:
    """What all peers in Python have in common: made with a budget for the head and one for the tail, fed, asked.

    `push(chunk)` or `extend(chunks)` feed it, as `ways` says; `ends()` answers with head and tail. A peer is a class,
    because its user would need one in the place of a retainer; where a push is one call of a method in C, such as
    `deque.append`, the attribute `push` is that method itself.
    """

    # What stands in the tables, and what it does less than a retainer.
    name: str
    lacks: str
    # The strategies that it has by its nature: head, head_stop (which reads no further), tail, head_tail.
    kinds: tuple[str, ...] = EVERY_KIND
    ways: tuple[str, ...] = ("push",)
    # It keeps the chunks themselves: what may change, a bytearray or a view, must be copied before.
    keeps_chunks = False
    # It takes the chunks of a str as they are. What does not is given them encoded.
    takes_str = False
    # It is right only for chunks of one size, which is its third argument.
    one_size = False
    # Why it cannot be used here.
    missing = ""
