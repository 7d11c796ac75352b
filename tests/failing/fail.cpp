// Preloaded into a program under test: its allocation or its call of the system number N fails, once.
//   OOMPLAN_FAIL_ALLOCATION=N   the Nth of malloc, calloc, realloc and what aligns finds no memory
//   OOMPLAN_FAIL_CALL=N         the Nth of open, read, write, rename, fsync and the like fails: no space, or no access
//   OOMPLAN_FAIL_COUNT=FILE     how many there were of both is written there at the end
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
}

namespace {

std::atomic<long> allocations{0};
std::atomic<long> calls{0};

/// Before any initialiser, and without an allocation. -1 where it is not set.
long number(const char* name) {
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::size_t length = std::strlen(name);
    if (std::strncmp(*entry, name, length) == 0 && (*entry)[length] == '=') return std::atol(*entry + length + 1);
  }
  return -1;
}

bool no_memory() {
  const long at = ++allocations;
  if (at != number("OOMPLAN_FAIL_ALLOCATION")) return false;
  errno = ENOMEM;
  return true;
}

bool refused(int error) {
  const long at = ++calls;
  if (at != number("OOMPLAN_FAIL_CALL")) return false;
  errno = error;
  return true;
}

template <class Function>
Function* next(Function*, const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

struct AtTheEnd {
  ~AtTheEnd() {
    const char* const path = std::getenv("OOMPLAN_FAIL_COUNT");
    if (path == nullptr) return;
    char text[64];
    const int length = std::snprintf(text, sizeof text, "%ld %ld\n", allocations.load(), calls.load());
    const long file = ::syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    ::syscall(SYS_write, file, text, length);
    ::syscall(SYS_close, file);
  }
} at_the_end;

}  // namespace

extern "C" {

void* malloc(std::size_t size) { return no_memory() ? nullptr : __libc_malloc(size); }
void* calloc(std::size_t count, std::size_t size) { return no_memory() ? nullptr : __libc_calloc(count, size); }
void* realloc(void* memory, std::size_t size) { return no_memory() ? nullptr : __libc_realloc(memory, size); }
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  return no_memory() ? nullptr : __libc_memalign(alignment, size);
}
void* memalign(std::size_t alignment, std::size_t size) {
  return no_memory() ? nullptr : __libc_memalign(alignment, size);
}
int posix_memalign(void** out, std::size_t alignment, std::size_t size) {
  if (no_memory()) return ENOMEM;
  *out = __libc_memalign(alignment, size);
  return *out == nullptr ? ENOMEM : 0;
}

#define OOMPLAN_CALL(type, name, error, parameters, ...)               \
  type name parameters {                                               \
    static const auto real = next(&::name, #name);                     \
    return refused(error) ? static_cast<type>(-1) : real(__VA_ARGS__); \
  }

OOMPLAN_CALL(ssize_t, read, EIO, (int file, void* out, size_t size), file, out, size)
OOMPLAN_CALL(ssize_t, pread, EIO, (int file, void* out, size_t size, off_t at), file, out, size, at)
OOMPLAN_CALL(ssize_t, write, ENOSPC, (int file, const void* text, size_t size), file, text, size)
OOMPLAN_CALL(ssize_t, pwrite, ENOSPC, (int file, const void* text, size_t size, off_t at), file, text, size, at)
OOMPLAN_CALL(ssize_t, writev, ENOSPC, (int file, const iovec* parts, int count), file, parts, count)
OOMPLAN_CALL(int, rename, EACCES, (const char* from, const char* to) noexcept, from, to)
OOMPLAN_CALL(int, link, EACCES, (const char* from, const char* to) noexcept, from, to)
OOMPLAN_CALL(int, linkat, EACCES, (int a, const char* from, int b, const char* to, int flags) noexcept, a, from, b, to,
             flags)
OOMPLAN_CALL(int, unlink, EACCES, (const char* path) noexcept, path)
OOMPLAN_CALL(int, fsync, EIO, (int file), file)
OOMPLAN_CALL(int, fdatasync, EIO, (int file), file)
OOMPLAN_CALL(int, ftruncate, EIO, (int file, off_t size) noexcept, file, size)
OOMPLAN_CALL(int, fchmod, EACCES, (int file, mode_t mode) noexcept, file, mode)
OOMPLAN_CALL(int, fchown, EACCES, (int file, uid_t user, gid_t group) noexcept, file, user, group)
OOMPLAN_CALL(int, mkdir, EACCES, (const char* path, mode_t mode) noexcept, path, mode)

int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = va_arg(more, mode_t);
  va_end(more);
  static const auto real = next(&::open, "open");
  return refused(EACCES) ? -1 : real(path, flags, mode);
}
int openat(int folder, const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = va_arg(more, mode_t);
  va_end(more);
  static const auto real = next(&::openat, "openat");
  return refused(EACCES) ? -1 : real(folder, path, flags, mode);
}
}
