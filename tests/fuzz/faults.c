/* Lets one system call on files below a folder fail, as a failing disk would: the n-th of a kind, once or for ever.
 *
 * Built by tests/fuzz/faults.py and preloaded; `fault_arm` says what fails. Descriptors are known by their path. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { OPEN, WRITE, SHORT, FSYNC, RENAME, MKDIR, UNLINK, KINDS };

static char prefix[PATH_MAX];
static int armed = -1, number, error, sticky;
static int seen[KINDS], hits;

void fault_arm(const char *folder, int kind, int nth, int code, int for_ever) {
    strncpy(prefix, folder, sizeof prefix - 1);
    armed = kind, number = nth, error = code, sticky = for_ever, hits = 0;
    memset(seen, 0, sizeof seen);
}

int fault_seen(int kind) { return seen[kind]; }
int fault_hits(void) { return hits; }

static int ours(const char *path) { return *prefix && path && strncmp(path, prefix, strlen(prefix)) == 0; }

static int at(int folder, const char *path) { /* a path that is relative to an open folder */
    char link[64], found[PATH_MAX];
    if (!*prefix || !path) return 0;
    if (*path == '/' || folder == AT_FDCWD) return ours(path);
    snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
    ssize_t n = readlink(link, found, sizeof found - 1);
    if (n < 0) return 0;
    found[n] = 0;
    return ours(found);
}

static int open_file(int descriptor) { return at(descriptor, ""); }

static int fails(int kind, int concerned) {
    if (!concerned) return 0;
    int place = seen[kind]++;
    if (kind != armed || !(place == number || (sticky && place > number))) return 0;
    hits++;
    errno = error;
    return 1;
}

#define REAL(name, result, ...) \
    static result (*real)(__VA_ARGS__); \
    if (!real) real = (result (*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name)

#define WRITES(flags) (((flags) & O_ACCMODE) != O_RDONLY || ((flags) & O_CREAT))

#define OPENING(name) \
    int name(const char *path, int flags, ...) { \
        va_list rest; va_start(rest, flags); mode_t mode = va_arg(rest, mode_t); va_end(rest); \
        REAL(name, int, const char *, int, ...); \
        return fails(OPEN, WRITES(flags) && ours(path)) ? -1 : real(path, flags, mode); \
    }
#define OPENING_AT(name) \
    int name(int folder, const char *path, int flags, ...) { \
        va_list rest; va_start(rest, flags); mode_t mode = va_arg(rest, mode_t); va_end(rest); \
        REAL(name, int, int, const char *, int, ...); \
        return fails(OPEN, WRITES(flags) && at(folder, path)) ? -1 : real(folder, path, flags, mode); \
    }
OPENING(open)
OPENING(open64)
OPENING_AT(openat)
OPENING_AT(openat64)

ssize_t write(int descriptor, const void *from, size_t n) {
    REAL(write, ssize_t, int, const void *, size_t);
    int concerned = descriptor > 2 && open_file(descriptor);
    if (fails(WRITE, concerned)) return -1;
    if (fails(SHORT, concerned && n > 1)) n = n / 2; /* honest, but only half: a caller must go on */
    return real(descriptor, from, n);
}

ssize_t pwrite64(int descriptor, const void *from, size_t n, off64_t place) {
    REAL(pwrite64, ssize_t, int, const void *, size_t, off64_t);
    return fails(WRITE, descriptor > 2 && open_file(descriptor)) ? -1 : real(descriptor, from, n, place);
}

ssize_t writev(int descriptor, const struct iovec *from, int n) {
    REAL(writev, ssize_t, int, const struct iovec *, int);
    return fails(WRITE, descriptor > 2 && open_file(descriptor)) ? -1 : real(descriptor, from, n);
}

#define ON_DESCRIPTOR(name) \
    int name(int descriptor) { \
        REAL(name, int, int); \
        return fails(FSYNC, open_file(descriptor)) ? -1 : real(descriptor); \
    }
ON_DESCRIPTOR(fsync)
ON_DESCRIPTOR(fdatasync)

int ftruncate64(int descriptor, off64_t size) {
    REAL(ftruncate64, int, int, off64_t);
    return fails(WRITE, open_file(descriptor)) ? -1 : real(descriptor, size);
}

int rename(const char *from, const char *to) {
    REAL(rename, int, const char *, const char *);
    return fails(RENAME, ours(to)) ? -1 : real(from, to);
}

int renameat(int one, const char *from, int other, const char *to) {
    REAL(renameat, int, int, const char *, int, const char *);
    return fails(RENAME, at(other, to)) ? -1 : real(one, from, other, to);
}

int renameat2(int one, const char *from, int other, const char *to, unsigned flags) {
    REAL(renameat2, int, int, const char *, int, const char *, unsigned);
    return fails(RENAME, at(other, to)) ? -1 : real(one, from, other, to, flags);
}

int mkdir(const char *path, mode_t mode) {
    REAL(mkdir, int, const char *, mode_t);
    return fails(MKDIR, ours(path)) ? -1 : real(path, mode);
}

int unlink(const char *path) {
    REAL(unlink, int, const char *);
    return fails(UNLINK, ours(path)) ? -1 : real(path);
}

int unlinkat(int folder, const char *path, int flags) {
    REAL(unlinkat, int, int, const char *, int);
    return fails(UNLINK, at(folder, path)) ? -1 : real(folder, path, flags);
}
