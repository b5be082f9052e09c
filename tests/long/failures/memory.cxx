// The allocator, which operator new and PetscMalloc() ask, too. glibc has its own functions under a second name.
#include "calls.hpp"

#include <cerrno>
#include <cstdlib>

extern "C" {
void *__libc_malloc(std::size_t);
void *__libc_calloc(std::size_t, std::size_t);
void *__libc_realloc(void *, std::size_t);
void *__libc_memalign(std::size_t, std::size_t);

#pragma GCC visibility push(default)
static bool none_left(const void *caller) {
  if (!failures::must_fail(failures::memory, caller)) return false;
  errno = ENOMEM;
  return true;
}

void *malloc(std::size_t n) noexcept { return none_left(__builtin_return_address(0)) ? nullptr : __libc_malloc(n); }
void *calloc(std::size_t n, std::size_t size) noexcept {
  return none_left(__builtin_return_address(0)) ? nullptr : __libc_calloc(n, size);
}
void *realloc(void *p, std::size_t n) noexcept {
  return none_left(__builtin_return_address(0)) ? nullptr : __libc_realloc(p, n);
}
void *aligned_alloc(std::size_t alignment, std::size_t n) noexcept {
  return none_left(__builtin_return_address(0)) ? nullptr : __libc_memalign(alignment, n);
}
void *memalign(std::size_t alignment, std::size_t n) noexcept {
  return none_left(__builtin_return_address(0)) ? nullptr : __libc_memalign(alignment, n);
}
int posix_memalign(void **p, std::size_t alignment, std::size_t n) noexcept {
  if (none_left(__builtin_return_address(0))) return ENOMEM;
  return (*p = __libc_memalign(alignment, n)) ? 0 : ENOMEM;
}
#pragma GCC visibility pop
}
