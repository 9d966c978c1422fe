/* A medium that fails, for a process that can't know it: loaded before libc, it counts the calls on files below one
 * directory and fails some of them. Which, is told by a file that is mapped here and written by the test: for each kind
 * of call the count so far, the first and the last call that fails, and the error. After a flush that fails, the pages
 * written since the last good one can be gone, as they are on Linux: then they are put back as they were. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum kind { READ, WRITE, FLUSH, NAME, KINDS };

struct control {
    struct {
        uint64_t count, first, last, error;
    } call[KINDS];
    uint64_t failed, loses_pages;
};

struct unflushed {
    struct unflushed *next;
    dev_t device;
    ino_t file;
    off_t offset;
    size_t length;
    char old[];
};

static struct control *control;
static const char *under;
static struct unflushed *unflushed;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("SILTSTONE_FAIL_CONTROL");
    under = getenv("SILTSTONE_FAIL_UNDER");
    if (!path || !under) return;
    int fd = syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0);
    if (fd < 0) return;
    void *map = mmap(0, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map != MAP_FAILED) control = map;
    close(fd);
}

static int is_meant_path(const char *path) {
    return control && strncmp(path, under, strlen(under)) == 0;
}

static int is_meant(int fd) {
    if (!control) return 0;
    char name[64], path[4096];
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, name, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return is_meant_path(path);
}

/* Counts a call; its error where it is to fail. */
static int fails(enum kind kind) {
    uint64_t n = __atomic_add_fetch(&control->call[kind].count, 1, __ATOMIC_SEQ_CST);
    uint64_t first = __atomic_load_n(&control->call[kind].first, __ATOMIC_SEQ_CST);
    uint64_t last = __atomic_load_n(&control->call[kind].last, __ATOMIC_SEQ_CST);
    if (!first || n < first || n > last) return 0;
    __atomic_add_fetch(&control->failed, 1, __ATOMIC_SEQ_CST);
    return (int)control->call[kind].error;
}

static void remember(int fd, size_t length, off_t offset) {
    struct stat stat;
    struct unflushed *entry = control->loses_pages ? calloc(1, sizeof *entry + length) : 0;
    if (!entry) return;
    if (fstat(fd, &stat) || syscall(SYS_pread64, fd, entry->old, length, offset) < 0) {
        free(entry);
        return;
    }
    entry->device = stat.st_dev, entry->file = stat.st_ino, entry->offset = offset, entry->length = length;
    pthread_mutex_lock(&lock);
    entry->next = unflushed, unflushed = entry;
    pthread_mutex_unlock(&lock);
}

/* Forgets what was written to a file since its last flush, or takes it back, the newest first. */
static void forget(int fd, int takes_back) {
    struct stat stat;
    if (fstat(fd, &stat)) return;
    pthread_mutex_lock(&lock);
    for (struct unflushed **place = &unflushed; *place;) {
        struct unflushed *entry = *place;
        if (entry->device != stat.st_dev || entry->file != stat.st_ino) {
            place = &entry->next;
            continue;
        }
        if (takes_back) syscall(SYS_pwrite64, fd, entry->old, entry->length, entry->offset);
        *place = entry->next;
        free(entry);
    }
    pthread_mutex_unlock(&lock);
}

#define FAIL_IF(kind, meant)                       \
    do {                                           \
        int error_ = (meant) ? fails(kind) : 0;    \
        if (error_) { errno = error_; return -1; } \
    } while (0)

ssize_t pread64(int fd, void *to, size_t length, off64_t offset) {
    FAIL_IF(READ, is_meant(fd));
    return syscall(SYS_pread64, fd, to, length, offset);
}

ssize_t read(int fd, void *to, size_t length) {
    FAIL_IF(READ, is_meant(fd));
    return syscall(SYS_read, fd, to, length);
}

ssize_t pwrite64(int fd, const void *from, size_t length, off64_t offset) {
    int meant = is_meant(fd);
    FAIL_IF(WRITE, meant);
    if (meant) remember(fd, length, offset);
    return syscall(SYS_pwrite64, fd, from, length, offset);
}

ssize_t write(int fd, const void *from, size_t length) {
    FAIL_IF(WRITE, is_meant(fd));
    return syscall(SYS_write, fd, from, length);
}

static int flush(int fd, long call) {
    int meant = is_meant(fd), error = meant ? fails(FLUSH) : 0;
    if (meant) forget(fd, error != 0);
    if (error) {
        errno = error;
        return -1;
    }
    return syscall(call, fd);
}

int fsync(int fd) { return flush(fd, SYS_fsync); }

int fdatasync(int fd) { return flush(fd, SYS_fdatasync); }

int ftruncate64(int fd, off64_t length) {
    FAIL_IF(NAME, is_meant(fd));
    return syscall(SYS_ftruncate, fd, length);
}

int rename(const char *from, const char *to) {
    FAIL_IF(NAME, is_meant_path(to));
    return syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to);
}

int unlink(const char *path) {
    FAIL_IF(NAME, is_meant_path(path));
    return syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

int mkdir(const char *path, mode_t mode) {
    FAIL_IF(NAME, is_meant_path(path));
    return syscall(SYS_mkdirat, AT_FDCWD, path, mode);
}

int open64(const char *path, int flags, ...) {
    mode_t mode = 0;
    if (flags & O_CREAT) {
        va_list rest;
        va_start(rest, flags);
        mode = va_arg(rest, mode_t);
        va_end(rest);
    }
    FAIL_IF(NAME, is_meant_path(path));
    return syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}
