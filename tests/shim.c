/* Preloaded into an interpreter: makes chosen calls of one function fail, or come back short.

read, write, ftruncate, poll and waitid count only where the caller is the engine's extension module; kill, killpg and the
allocators are called by Python on its behalf, and count from everywhere while they are armed. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define CALLER __builtin_return_address(0)

/* An error that is none: the call comes back short. */
#define SHORT 0
/* As many bytes as a short read or write moves. */
#define LITTLE 7

void *__libc_malloc(size_t size);
void *__libc_realloc(void *memory, size_t size);

/* What is armed: calls number `first` to `last` of `function` that ask for at least `smallest` bytes. */
static char function[32];
static int error;
static long first, last;
static size_t smallest;
static atomic_int armed;
static atomic_long calls, hits;

/* What the engine has moved in all, whatever is armed. */
static atomic_llong bytes_read, bytes_written;
static atomic_long polls;

/* Called after each read of the engine that read something. */
static void (*after_read)(void);

void fault_arm(const char *name, int number, long from, long to, size_t at_least)
{
    atomic_store(&armed, 0);
    strncpy(function, name, sizeof function - 1);
    error = number;
    first = from;
    last = to;
    smallest = at_least;
    atomic_store(&calls, 0);
    atomic_store(&hits, 0);
    atomic_store(&armed, 1);
}

void fault_disarm(void) { atomic_store(&armed, 0); }

void fault_reset(void)
{
    atomic_store(&bytes_read, 0);
    atomic_store(&bytes_written, 0);
    atomic_store(&polls, 0);
}

void fault_after_read(void (*hook)(void)) { after_read = hook; }
long fault_calls(void) { return atomic_load(&calls); }
long fault_hits(void) { return atomic_load(&hits); }
long long fault_bytes_read(void) { return atomic_load(&bytes_read); }
long long fault_bytes_written(void) { return atomic_load(&bytes_written); }
long fault_polls(void) { return atomic_load(&polls); }

static int is_engine(void *caller)
{
    Dl_info info;
    return dladdr(caller, &info) != 0 && info.dli_fname != NULL && strstr(info.dli_fname, "/_engine.") != NULL;
}

/* Whether this call is one that fails. */
static int fails(const char *name, size_t size)
{
    long number;
    if (!atomic_load(&armed) || strcmp(name, function) != 0 || size < smallest)
        return 0;
    number = atomic_fetch_add(&calls, 1) + 1;
    if (number < first || number > last)
        return 0;
    atomic_fetch_add(&hits, 1);
    return 1;
}

/* Reads of the engine that are smaller are not of data. */
#define BLOCK (64 << 10)

ssize_t read(int fd, void *data, size_t size)
{
    ssize_t moved;
    int engine = size >= BLOCK && is_engine(CALLER);
    if (engine && fails("read", size)) {
        if (error != SHORT) {
            errno = error;
            return -1;
        }
        size = size < LITTLE ? size : LITTLE;
    }
    moved = REAL(read)(fd, data, size);
    if (engine && moved > 0) {
        atomic_fetch_add(&bytes_read, moved);
        if (after_read != NULL)
            after_read();
    }
    return moved;
}

/* A read that does not wait: counts as a read, and may be made to fail apart from those. By this name Python's own
   settings of the C library have it called. */
ssize_t preadv64v2(int fd, const struct iovec *parts, int count, off64_t offset, int flags)
{
    ssize_t moved;
    struct iovec part = parts[0];
    int engine = is_engine(CALLER);
    if (engine && (fails("read", part.iov_len) || fails("preadv2", part.iov_len))) {
        if (error != SHORT) {
            errno = error;
            return -1;
        }
        part.iov_len = part.iov_len < LITTLE ? part.iov_len : LITTLE;
    }
    moved = REAL(preadv64v2)(fd, &part, count, offset, flags);
    if (engine && moved > 0) {
        atomic_fetch_add(&bytes_read, moved);
        if (after_read != NULL)
            after_read();
    }
    return moved;
}

/* The pipe that tells the engine of signals. */
int pipe2(int ends[2], int flags)
{
    if (is_engine(CALLER) && fails("pipe2", 0)) {
        errno = error;
        return -1;
    }
    return REAL(pipe2)(ends, flags);
}

ssize_t write(int fd, const void *data, size_t size)
{
    ssize_t moved;
    int engine = is_engine(CALLER);
    if (engine && fails("write", size)) {
        if (error != SHORT) {
            errno = error;
            return -1;
        }
        size = size < LITTLE ? size : LITTLE;
    }
    moved = REAL(write)(fd, data, size);
    if (engine && moved > 0)
        atomic_fetch_add(&bytes_written, moved);
    return moved;
}

/* Under this name for the same reason. */
int ftruncate64(int fd, off64_t size)
{
    if (is_engine(CALLER) && fails("ftruncate", 0)) {
        errno = error;
        return -1;
    }
    return REAL(ftruncate64)(fd, size);
}

int poll(struct pollfd *polled, nfds_t count, int milliseconds)
{
    if (is_engine(CALLER)) {
        atomic_fetch_add(&polls, 1);
        if (fails("poll", count)) {
            if (error != SHORT) {
                /* What is left in there is not an answer. */
                errno = error;
                return -1;
            }
            for (nfds_t i = 0; i < count; i++)
                polled[i].revents = 0;
            return 0;
        }
    }
    return REAL(poll)(polled, count, milliseconds);
}

int waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
    if (is_engine(CALLER) && fails("waitid", 0)) {
        if (error != SHORT) {
            errno = error;
            return -1;
        }
        /* Nothing has ended yet. */
        info->si_pid = 0;
        return 0;
    }
    return REAL(waitid)(type, id, info, options);
}

int kill(pid_t pid, int number)
{
    if (fails("kill", 0)) {
        errno = error;
        return -1;
    }
    return REAL(kill)(pid, number);
}

int killpg(pid_t group, int number)
{
    /* One with kill: which of them is called is not the question. */
    if (fails("kill", 0)) {
        errno = error;
        return -1;
    }
    return REAL(killpg)(group, number);
}

void *malloc(size_t size)
{
    if (fails("malloc", size)) {
        errno = ENOMEM;
        return NULL;
    }
    return __libc_malloc(size);
}

void *realloc(void *memory, size_t size)
{
    if (fails("realloc", size)) {
        errno = ENOMEM;
        return NULL;
    }
    return __libc_realloc(memory, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    if (is_engine(CALLER) && fails("posix_memalign", size))
        return ENOMEM;
    return REAL(posix_memalign)(memory, alignment, size);
}
