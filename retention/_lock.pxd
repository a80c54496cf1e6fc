"""A plain mutex of the system, which needs neither Python nor the GIL. Taken for a few instructions at a time."""


cdef extern from *:
    """
    #ifdef _WIN32
    #define WIN32_LEAN_AND_MEAN
    #include <windows.h>
    typedef SRWLOCK Lock;
    static inline void lock_init(Lock *lock) { InitializeSRWLock(lock); }
    static inline void lock_free(Lock *lock) { (void)lock; }
    static inline void lock_take(Lock *lock) { AcquireSRWLockExclusive(lock); }
    static inline void lock_give(Lock *lock) { ReleaseSRWLockExclusive(lock); }
    #else
    #include <pthread.h>
    typedef pthread_mutex_t Lock;
    static inline void lock_init(Lock *lock) { pthread_mutex_init(lock, NULL); }
    static inline void lock_free(Lock *lock) { pthread_mutex_destroy(lock); }
    static inline void lock_take(Lock *lock) { pthread_mutex_lock(lock); }
    static inline void lock_give(Lock *lock) { pthread_mutex_unlock(lock); }
    #endif

    #ifdef Py_GIL_DISABLED
    #define LOCK_ALWAYS 1
    #else
    #define LOCK_ALWAYS 0
    #endif
    """
    # Whether there is no GIL to keep threads apart.
    const int LOCK_ALWAYS
    ctypedef struct Lock:
        pass
    void lock_init(Lock *lock) noexcept nogil
    void lock_free(Lock *lock) noexcept nogil
    void lock_take(Lock *lock) noexcept nogil
    void lock_give(Lock *lock) noexcept nogil
