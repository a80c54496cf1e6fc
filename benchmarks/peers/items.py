"""Peers that keep the ends of a stream of items. Head and tail are lists."""

from collections import deque
from itertools import islice

from . import Peer


class ListThenSlice(Peer):
    name = "`list`, then slice"
    lacks = "a bound on memory"
    ways = ("push", "extend")

    def __init__(self, head_items, tail_items):
        self.items, self.head_items, self.tail_items = [], head_items, tail_items
        self.push, self.extend = self.items.append, self.items.extend

    def ends(self):
        return self.items[: self.head_items], self.items[max(self.head_items, len(self.items) - self.tail_items) :]


class HeadAndCount(Peer):
    """A push answers whether the item was kept."""

    name = "`list` up to the budget, and a count"
    lacks = "nothing"
    kinds = ("head",)

    def __init__(self, head_items, _):
        self.items, self.head_items, self.omitted = [], head_items, 0

    def push(self, item):
        if len(self.items) < self.head_items:
            self.items.append(item)
            return True
        self.omitted += 1
        return False

    def ends(self):
        return self.items, []


class Maxlen(Peer):
    name = "`deque(maxlen)`"
    lacks = "counts"
    kinds = ("tail",)
    ways = ("push", "extend")

    def __init__(self, _, tail_items):
        self.items = deque(maxlen=tail_items)
        self.push, self.extend = self.items.append, self.items.extend

    def ends(self):
        return [], list(self.items)


class HeadThenMaxlen(Peer):
    name = "`list`, then `deque(maxlen)`"
    lacks = "counts"
    kinds = ("head_tail",)
    ways = ("push", "extend")

    def __init__(self, head_items, tail_items):
        self.head, self.head_items, self.tail = [], head_items, deque(maxlen=tail_items)

    def push(self, item):
        if len(self.head) < self.head_items:
            self.head.append(item)
        else:
            self.tail.append(item)

    def extend(self, items):
        items = iter(items)
        self.head += islice(items, self.head_items - len(self.head))
        self.tail.extend(items)

    def ends(self):
        return self.head, list(self.tail)


class Islice(Peer):
    name = "`islice`"
    lacks = "the probe, more than one `extend`"
    kinds = ("head_stop",)
    ways = ("extend",)

    def __init__(self, head_items, _):
        self.head_items = head_items

    def extend(self, items):
        self.items = list(islice(items, self.head_items))

    def ends(self):
        return self.items, []


PEERS = (ListThenSlice, HeadAndCount, Maxlen, HeadThenMaxlen, Islice)
