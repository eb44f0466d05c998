// Live heap bytes and their peak, of any process that this library is preloaded into: one instrument for programs of
// different languages and allocators' habits.
//
//     cc -O2 -shared -fPIC -o libpeakmalloc.so peakmalloc.c
//     LD_PRELOAD=$PWD/libpeakmalloc.so PROGRAM
//
// It stands in front of glibc's heap and counts each block at its usable size. The process reads the counters through
// three symbols of its own address space (ctypes.CDLL(None) in Python, dlsym(RTLD_DEFAULT, ..) elsewhere):
//
//     size_t peakmalloc_live(void)     bytes that are allocated now
//     size_t peakmalloc_peak(void)     the most that were, since the last reset
//     void   peakmalloc_reset(void)    the peak becomes what is allocated now
//
// Memory that a program maps by itself is not seen.
#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

// glibc's own entry points: calling them, and not malloc through dlsym, needs no setup before the first allocation.
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void __libc_free(void *);

static atomic_size_t live_bytes;
static atomic_size_t peak_bytes;

static void *counted(void *block) {
    if (block == NULL) return NULL;
    size_t size = malloc_usable_size(block);
    size_t live = atomic_fetch_add_explicit(&live_bytes, size, memory_order_relaxed) + size;
    size_t peak = atomic_load_explicit(&peak_bytes, memory_order_relaxed);
    while (peak < live && !atomic_compare_exchange_weak(&peak_bytes, &peak, live)) {
        // A failed exchange has loaded the peak again.
    }
    return block;
}

static void forget(size_t size) { atomic_fetch_sub_explicit(&live_bytes, size, memory_order_relaxed); }

void *malloc(size_t size) { return counted(__libc_malloc(size)); }

void *calloc(size_t count, size_t size) { return counted(__libc_calloc(count, size)); }

void free(void *block) {
    // Before the block is given back: another thread may be handed it at once.
    if (block != NULL) forget(malloc_usable_size(block));
    __libc_free(block);
}

void *realloc(void *block, size_t size) {
    size_t before = block == NULL ? 0 : malloc_usable_size(block);
    void *moved = __libc_realloc(block, size);
    // Size 0 frees the block and returns NULL; any other NULL leaves it as it was.
    if (moved != NULL || size == 0) forget(before);
    return counted(moved);
}

void *reallocarray(void *block, size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(block, bytes);
}

void *memalign(size_t alignment, size_t size) { return counted(__libc_memalign(alignment, size)); }

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **out, size_t alignment, size_t size) {
    if (alignment % sizeof(void *) != 0 || alignment == 0 || (alignment & (alignment - 1)) != 0) return EINVAL;
    int before = errno;
    void *block = memalign(alignment, size);
    // It reports by its return value alone.
    errno = before;
    if (block == NULL) return ENOMEM;
    *out = block;
    return 0;
}

void *valloc(size_t size) { return memalign((size_t)sysconf(_SC_PAGESIZE), size); }

void *pvalloc(size_t size) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (size > SIZE_MAX - page) {
        errno = ENOMEM;
        return NULL;
    }
    return memalign(page, (size + page - 1) / page * page);
}

size_t peakmalloc_live(void) { return atomic_load(&live_bytes); }
size_t peakmalloc_peak(void) { return atomic_load(&peak_bytes); }
void peakmalloc_reset(void) { atomic_store(&peak_bytes, atomic_load(&live_bytes)); }
