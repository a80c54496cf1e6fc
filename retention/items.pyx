"""ItemRetainer: items in, the first, the last or both of them out."""

cimport cython
from cpython.list cimport PyList_CheckExact
from cpython.ref cimport PyObject
from cpython.tuple cimport PyTuple_CheckExact

from retention._lock cimport LOCK_ALWAYS
from retention.results cimport Omitted, PushDecision, RetainedItems, omission, shared_decision

from retention.notices import HeadTailLimit, RetentionNotice
from retention.strategies import ItemRetentionStrategy, shown


cdef extern from *:
    """
    #ifdef Py_GIL_DISABLED
    /* A list has a lock of its own, which anybody may hold whom the garbage collector has shown the list. Who waits for
       it lets go of the retainer meanwhile, and another thread may take the list out of it. */
    #define give_back(item) Py_XDECREF(item)

    static int append(PyObject *items, PyObject *item)
    {
        int status;
        Py_INCREF(items);
        status = PyList_Append(items, item);
        Py_DECREF(items);
        return status;
    }

    static PyObject *exchange(PyObject *items, Py_ssize_t at, PyObject *item)
    {
        PyObject *displaced = NULL;
        Py_INCREF(items);
        Py_BEGIN_CRITICAL_SECTION(items);
        if (at < PyList_GET_SIZE(items)) {
            displaced = PyList_GET_ITEM(items, at);
            PyList_SET_ITEM(items, at, Py_NewRef(item));
        }
        Py_END_CRITICAL_SECTION();
        Py_DECREF(items);
        return displaced;
    }
    #else
    #define give_back(item) Py_DECREF(item)
    #define append PyList_Append

    static inline PyObject *exchange(PyObject *items, Py_ssize_t at, PyObject *item)
    {
        PyObject *displaced = PyList_GET_ITEM(items, at);
        PyList_SET_ITEM(items, at, Py_NewRef(item));
        return displaced;
    }
    #endif
    """
    # By plain pointers: a typed list costs a reference taken and given back at each use.
    Py_ssize_t size_of "PyList_GET_SIZE"(PyObject *items) noexcept
    int append(PyObject *items, PyObject *item) except -1
    # Puts an item into the place of another, which is the caller's then. NULL: the list has lost that place.
    PyObject *exchange(PyObject *items, Py_ssize_t at, PyObject *item) noexcept
    void give_back(PyObject *item) noexcept


# No stream is longer: budgets are clipped to it, so that two of them add up without overflow.
cdef Py_ssize_t LARGEST = <Py_ssize_t>((<size_t>-1) // 8)

# The layout of a pickled state.
cdef int STATE_VERSION = 1

# Of a stream that is merged from others; and of one that is unpickled, to which pushing may have added as much as
# anybody can push. From there no more pushing reaches the end of the counter.
cdef unsigned long long MOST_ITEMS = (1 << 63) - 1
cdef unsigned long long COUNTABLE = <unsigned long long>3 << 62

cdef PushDecision KEPT = shared_decision(True, False, False)
cdef PushDecision OMITTED = shared_decision(False, True, False)
cdef PushDecision OMITTED_STOP = shared_decision(False, True, True)
# Extending by nothing loses nothing, also when something was lost before it.
cdef PushDecision EMPTY_AFTER_OMISSION = shared_decision(True, True, False)


# The collector breaks a cycle through the items by emptying the lists; without them the methods could not run.
@cython.final
@cython.no_gc_clear
cdef class ItemRetainer:
    """ItemRetainer(strategy)\n--\n
    Keeps the first items of a stream, the last or both, and counts what it leaves out.

    strategy: ItemHead, ItemTail or ItemHeadTail. A budget is a limit, never an allocation.

    Only the kept items are referenced. Generic in their type: `ItemRetainer[int](ItemHead(3))`.

    >>> retainer = ItemRetainer(ItemHeadTail(2, 1))
    >>> decision = retainer.extend(["a", "b", "c", "d", "e"])
    >>> retainer.finish()
    RetainedItems(items=['a', 'b', 'e'], head=['a', 'b'], tail=['e'], truncated=True, \
omitted=Omitted(kind='exact', count=2), seen=5, kept=3)

    Raises TypeError if the strategy is none of the three.
    """

    # The first items, and the newest of those after them: a ring once it holds `tail_budget`. The lists are ours, but
    # the garbage collector shows them to anybody who asks: their sizes are looked at before each use.
    cdef list head, ring
    # The index of the ring's oldest item.
    cdef Py_ssize_t oldest
    cdef Py_ssize_t head_budget, tail_budget
    cdef unsigned long long count
    # What an item beyond the budget is answered.
    cdef PushDecision beyond
    cdef readonly object strategy
    cdef str kind
    # The budgets as a notice shows them.
    cdef object limit

    # Without a GIL each method does in a critical section what it does at one moment; what is no method of Python's,
    # but for `keep`, is called in one. It is suspended while its thread waits for anything, or runs code that does:
    # wherever that may be, all is in order. One inside of another would be suspended by it, so there is none.

    def __cinit__(self, strategy):
        if not isinstance(strategy, ItemRetentionStrategy):
            raise TypeError(f"strategy must be an ItemHead, ItemTail or ItemHeadTail, got {shown(strategy)}")
        head, tail = strategy._ends()
        self.strategy = strategy
        self.kind = strategy.kind
        self.limit = HeadTailLimit(head, tail) if strategy.kind == "head_tail" else head + tail
        self.beyond = OMITTED_STOP if getattr(strategy, "stop", None) == "stop_when_full" else OMITTED
        self.head_budget = min(head, LARGEST)
        self.tail_budget = min(tail, LARGEST)
        self.head = []
        self.ring = []

    @classmethod
    def __class_getitem__(cls, item, /):
        from types import GenericAlias

        return GenericAlias(cls, item)

    def __repr__(self):
        return f"<ItemRetainer of {self.strategy!r}: {self.seen} items seen>"

    @property
    def seen(self):
        """The number of items observed so far, kept or not."""
        with cython.critical_section(self):
            return self.count

    @property
    def truncated(self):
        """Whether any item has been omitted so far because of the budget."""
        with cython.critical_section(self):
            return self.is_truncated()

    def push(self, item, /):
        """Append an item to the stream.

        Returns the PushDecision: `kept`, `truncated`, `should_stop`. Raises MemoryError; the retainer is then as it
        was before.
        """
        return KEPT if self.keep(item) else self.beyond

    def extend(self, items, /):
        """Push each of the items of an iterable, up to and including the first that asks to stop.

        Returns a PushDecision: `should_stop` of the last push, `truncated` so far, `kept` if every item was kept; for
        an empty iterable `kept` is true. Where the iterable raises, what came before stays. A list or a tuple costs
        no more than the budget, however long it is.

        Raises TypeError for what is no iterable; what the iterable raises; and MemoryError.
        """
        cdef bint kept = True
        cdef bint all_kept = True
        cdef bint stops = self.beyond is OMITTED_STOP
        cdef PushDecision decision
        if PyList_CheckExact(items) or PyTuple_CheckExact(items):
            with cython.critical_section(self):
                decision = self.extend_sequence(items)
            if decision is not None:
                return decision
        # By an iterator, also a list, where another thread may make it shorter meanwhile.
        for item in (iter(items) if LOCK_ALWAYS else items):
            kept = self.keep(item)
            if not kept:
                all_kept = False
                if stops:
                    break
        with cython.critical_section(self):
            return self.decide(all_kept, stops and not kept)

    def finish(self):
        """Return the RetainedItems of the stream so far, as if it ended here. Changes nothing: pushing may go on.

        Takes time in proportion to the items kept. Raises MemoryError.
        """
        cdef list head, tail
        cdef unsigned long long seen, kept
        with cython.critical_section(self):
            seen, head, tail = self.held()
        kept = len(head) + len(tail)
        if kept == seen and self.kind != "tail":
            head += tail
            tail = []
        return RetainedItems.__new__(
            RetainedItems, head + tail, head, tail, kept < seen, self.omitted(seen - kept), seen, kept
        )

    def notice(self, scope, /):
        """Return the RetentionNotice of the stream so far, in items.

        scope: what was bounded, in the tool's words: "grep".
        """
        cdef unsigned long long seen, kept
        with cython.critical_section(self):
            seen = self.count
            kept = size_of(<PyObject *>self.head) + size_of(<PyObject *>self.ring)
        return RetentionNotice(scope, self.kind, "items", self.limit, kept, self.omitted(seen - kept))

    def merge(self, later, /):
        """Become what this retainer would be had the stream of `later` been pushed after its own.

        Exact, early stop included, by what the two hold: however long the streams, it costs no more than the budgets.
        `later` stays as it is, and may be this very retainer: then the stream is there twice. `a + b` is a new retainer
        of both.

        Raises TypeError for what is no ItemRetainer; ValueError if the strategies differ; OverflowError for a stream of
        2**63 items or more; MemoryError. Both are then as they were.
        """
        if not isinstance(later, ItemRetainer):
            raise TypeError(f"later must be an ItemRetainer, got {shown(later)}")
        cdef ItemRetainer other = later
        if self.strategy != other.strategy:
            raise ValueError(
                f"only retainers of equal strategies can be merged, got {shown(self)} and {shown(other)}"
            )
        with cython.critical_section(self, other):
            count, first, last = other.held()
            self.absorb(count, first, last)

    def __add__(self, other):
        """Return a new ItemRetainer of both streams, this one's first; it raises what `merge` raises."""
        if not isinstance(self, ItemRetainer) or not isinstance(other, ItemRetainer):
            return NotImplemented
        both = ItemRetainer(self.strategy)
        both.merge(self)
        both.merge(other)
        return both

    def __reduce__(self):
        with cython.critical_section(self):
            held = self.held()
        return ItemRetainer, (self.strategy,), (STATE_VERSION, *held)

    def __setstate__(self, state, /):
        """Take the state of a pickled retainer: for pickle and copy.

        Raises ValueError for a state that no retainer of this strategy can have, or of a later version.
        """
        if type(state) is not tuple or not state or type(state[0]) is not int:
            raise ValueError(f"state must be that of a pickled ItemRetainer, got {shown(state)}")
        if state[0] != STATE_VERSION:
            raise ValueError(f"the state was made by another version of retention: {shown(state[0])}")
        if [type(field) for field in state[1:]] != [int, list, list]:
            raise ValueError("the state of the ItemRetainer is damaged: its fields are not of the right types")
        # What is checked is what is taken: nobody else has the copies.
        count, first, last = state[1], [*state[2]], [*state[3]]
        with cython.critical_section(self):
            if self.count:
                raise ValueError("only a fresh ItemRetainer can take a state")
            if not 0 <= count <= COUNTABLE or (
                len(first) != min(count, self.head_budget) or len(last) != min(count - len(first), self.tail_budget)
            ):
                raise ValueError("the state of the ItemRetainer is damaged: it does not hold what its count says")
            self.absorb(count, first, last)

    cdef tuple held(self):
        # The length of the stream, and the items held from its beginning and from its end. Making a list may run the
        # collector (before CPython 3.12), and so a finalizer that pushes to this very retainer, or merges another into
        # it: what was copied then is of two moments. A list is copied into one that is there already, as making it
        # may be what moves the items; and by a reference of our own, as a merge lets go of the old lists.
        cdef unsigned long long count
        cdef Py_ssize_t oldest
        cdef list own_head, own_ring, first, last
        while True:
            count, oldest = self.count, self.oldest
            own_head, own_ring = self.head, self.ring
            first, last = [], []
            first.extend(own_head)
            last.extend(own_ring)
            if count == self.count:
                break
        if oldest:
            last.extend(last[:oldest])
            del last[:oldest]
        return count, first, last

    cdef int absorb(self, unsigned long long count, list first, list last) except -1:
        # As if the stream of which this is held had been pushed. Nothing is changed before all lists are made.
        cdef list head, tail, _old_head, _old_ring
        cdef unsigned long long mine
        while True:
            mine, head, tail = self.held()
            if mine and (mine > MOST_ITEMS or count > MOST_ITEMS - mine):
                raise OverflowError("a stream of 2**63 items or more cannot be counted")
            room = max(self.head_budget - len(head), 0)
            head += first[:room]
            # Where something lies between the two, the last fill the ring.
            tail += first[room:] + last
            tail = tail[max(len(tail) - self.tail_budget, 0):]
            if mine == self.count:
                break
        # The old lists live until all is set: what dies with them may look at this, and push.
        _old_head, _old_ring = self.head, self.ring
        self.head, self.ring = head, tail
        self.oldest = 0
        self.count = mine + count
        return 0

    cdef bint is_truncated(self):
        return self.count > <unsigned long long>self.head_budget + <unsigned long long>self.tail_budget

    cdef Omitted omitted(self, unsigned long long count):
        return omission(count, self.beyond is OMITTED_STOP)

    cdef PushDecision decide(self, bint kept, bint should_stop):
        if not self.is_truncated():
            return KEPT
        if kept:
            return EMPTY_AFTER_OMISSION
        return OMITTED_STOP if should_stop else OMITTED

    cdef inline bint keep(self, item) except -1:
        # With a GIL a critical section is nothing, but the reference that it takes is something.
        if not LOCK_ALWAYS:
            return self.take(item)
        with cython.critical_section(self):
            return self.take(item)

    cdef inline bint take(self, item) except -1:
        # Whether nothing is omitted so far.
        cdef PyObject *items = <PyObject *>self.head
        if size_of(items) >= self.head_budget:
            items = <PyObject *>self.ring
            if size_of(items) >= self.tail_budget:
                self.count += 1
                if self.tail_budget:
                    self.replace_oldest(<PyObject *>item)
                return False
        if LOCK_ALWAYS:
            append(items, <PyObject *>item)
        else:
            # In place, which is faster.
            (<list>items).append(item)
        self.count += 1
        return True

    cdef void replace_oldest(self, PyObject *item):
        cdef Py_ssize_t at = self.oldest
        self.oldest = at + 1 if at + 1 < self.tail_budget else 0
        # The finalizer of what makes way may call back into here.
        give_back(exchange(<PyObject *>self.ring, at, item))

    cdef PushDecision extend_sequence(self, items):
        # Only what can be kept is copied out, counted and pushed; each push leaves everything in order, whatever a
        # dying item's finalizer does in between. None: nothing was pushed, as the size changed in the meantime, or
        # somebody else took the room in the head.
        cdef Py_ssize_t size = len(items)
        cdef Py_ssize_t to_head = min(size, max(self.head_budget - size_of(<PyObject *>self.head), 0))
        cdef Py_ssize_t to_ring = min(size - to_head, self.tail_budget)
        cdef Py_ssize_t beyond = size - to_head - to_ring
        cdef bint kept = True
        cdef list head, last, _old_ring
        first = items[:to_head]
        part = items[size - to_ring:]
        last = part if PyList_CheckExact(part) else list(part)
        if len(first) != to_head or len(last) != to_ring:
            return None
        if size == 0:
            return self.decide(True, False)
        if to_head:
            if to_head > self.head_budget - size_of(<PyObject *>self.head):
                return None
            # By a reference of our own, as `held` does it.
            head = self.head
            head.extend(first)
            self.count += to_head
        if beyond == 0:
            for item in last:
                kept = self.take(item)
            return KEPT if kept else self.beyond
        # Where something is passed over, what follows fills the whole ring: at once, as the old ring is none of the
        # stream's end any more. It lives until all is set.
        _old_ring = self.ring
        self.ring = last
        self.oldest = 0
        # With a stop the source is looked at up to the probe.
        self.count += 1 if self.beyond is OMITTED_STOP else beyond + to_ring
        return self.beyond
