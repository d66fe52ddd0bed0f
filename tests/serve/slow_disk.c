/* A disk that takes its time: what is synced below the folder SLOW_FOLDER waits SLOW_MILLISECONDS first. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void wait_for(int descriptor) {
    const char *folder = getenv("SLOW_FOLDER"), *slow = getenv("SLOW_MILLISECONDS");
    char link[64], found[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t n = readlink(link, found, sizeof found - 1);
    if (!folder || !slow || n < 0) return;
    found[n] = 0;
    long wait = strncmp(found, folder, strlen(folder)) ? 0 : atol(slow);
    struct timespec time = {wait / 1000, wait % 1000 * 1000000};
    nanosleep(&time, NULL);
}

#define SYNC(name) \
    int name(int descriptor) { \
        static int (*real)(int); \
        if (!real) real = (int (*)(int))dlsym(RTLD_NEXT, #name); \
        wait_for(descriptor); \
        return real(descriptor); \
    }
SYNC(fsync)
SYNC(fdatasync)
