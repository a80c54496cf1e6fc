/* An extension module for an interpreter of its own: makes chosen allocations fail, and counts what is allocated.

Every allocator of CPython is hooked, the raw one included: with it all memory of the compiled modules, but for the
block that a drain reads into, which shim.c makes fail. */

#include <Python.h>
#include <stdatomic.h>

#define DOMAINS 3

static PyMemAllocatorEx real[DOMAINS];

/* Calls number `first` to `last` fail, counted while they are armed and not paused; those of this thread do not. */
static long first, last;
static unsigned long spared;
static atomic_int armed, paused;
static atomic_long calls, hits;

/* Blocks that have been allocated and not been freed since the hooks are there. */
static atomic_long living;

static int fails(void)
{
    long number;
    if (!atomic_load(&armed) || atomic_load(&paused) || (spared && PyThread_get_thread_ident() == spared))
        return 0;
    number = atomic_fetch_add(&calls, 1) + 1;
    if (number < first || number > last)
        return 0;
    atomic_fetch_add(&hits, 1);
    return 1;
}

static void *counted(void *memory)
{
    if (memory != NULL)
        atomic_fetch_add(&living, 1);
    return memory;
}

static void *hook_malloc(void *context, size_t size)
{
    PyMemAllocatorEx *next = context;
    return fails() ? NULL : counted(next->malloc(next->ctx, size));
}

static void *hook_calloc(void *context, size_t count, size_t size)
{
    PyMemAllocatorEx *next = context;
    return fails() ? NULL : counted(next->calloc(next->ctx, count, size));
}

static void *hook_realloc(void *context, void *memory, size_t size)
{
    PyMemAllocatorEx *next = context;
    void *grown;
    if (fails())
        return NULL;
    grown = next->realloc(next->ctx, memory, size);
    return memory == NULL ? counted(grown) : grown;
}

static void hook_free(void *context, void *memory)
{
    PyMemAllocatorEx *next = context;
    if (memory != NULL)
        atomic_fetch_sub(&living, 1);
    next->free(next->ctx, memory);
}

static PyObject *fail(PyObject *module, PyObject *arguments)
{
    long from, to;
    int elsewhere = 0;
    if (!PyArg_ParseTuple(arguments, "ll|p", &from, &to, &elsewhere))
        return NULL;
    spared = elsewhere ? PyThread_get_thread_ident() : 0;
    first = from;
    last = to;
    atomic_store(&calls, 0);
    atomic_store(&hits, 0);
    atomic_store(&paused, 0);
    atomic_store(&armed, 1);
    Py_RETURN_NONE;
}

static PyObject *done(PyObject *module, PyObject *unused)
{
    atomic_store(&armed, 0);
    return PyLong_FromLong(atomic_load(&hits));
}

static PyObject *pause_failing(PyObject *module, PyObject *unused)
{
    atomic_fetch_add(&paused, 1);
    Py_RETURN_NONE;
}

static PyObject *resume_failing(PyObject *module, PyObject *unused)
{
    atomic_fetch_sub(&paused, 1);
    Py_RETURN_NONE;
}

static PyObject *blocks(PyObject *module, PyObject *unused) { return PyLong_FromLong(atomic_load(&living)); }

static PyMethodDef methods[] = {
    {"fail", fail, METH_VARARGS, "Make allocations of these numbers fail, counted from 1; or those of other threads alone."},
    {"done", done, METH_NOARGS, "Let none fail any more; returns how many did."},
    {"pause", pause_failing, METH_NOARGS, "Neither count nor fail until `resume`."},
    {"resume", resume_failing, METH_NOARGS, "Go on after `pause`."},
    {"blocks", blocks, METH_NOARGS, "The blocks allocated since the import and not freed."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, .m_name = "nomemory", .m_size = -1, .m_methods = methods,
};

PyMODINIT_FUNC PyInit_nomemory(void)
{
    static const PyMemAllocatorDomain domains[DOMAINS] = {PYMEM_DOMAIN_RAW, PYMEM_DOMAIN_MEM, PYMEM_DOMAIN_OBJ};
    for (int i = 0; i < DOMAINS; i++) {
        PyMemAllocatorEx hook = {&real[i], hook_malloc, hook_calloc, hook_realloc, hook_free};
        PyMem_GetAllocator(domains[i], &real[i]);
        PyMem_SetAllocator(domains[i], &hook);
    }
    return PyModule_Create(&definition);
}
