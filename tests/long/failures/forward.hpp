// Functions whose arguments are all integers, pointers or small structs of them, and whose result is an error code: as
// words they are handed on without being understood, so that neither MPI's nor CUDA's headers are needed.
#pragma once

#include "calls.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace failures {

using Function = int (*)(long, long, long, long, long, long, long, long, long, long, long, long);

inline Function next(const char *name) {
  void *const symbol = dlsym(RTLD_NEXT, name);
  if (symbol) return reinterpret_cast<Function>(symbol);
  std::fprintf(stderr, "no %s in the libraries that are loaded\n", name);
  std::abort();
}

} // namespace failures

#define FORWARDED(function, kind, before, after)                                                                       \
  __attribute__((visibility("default"))) int function(long a, long b, long c, long d, long e, long f, long g, long h,  \
                                                      long i, long j, long k, long l) {                                \
    static const failures::Function next = failures::next(#function);                                                  \
    const bool fails = failures::must_fail(kind, __builtin_return_address(0));                                         \
    if (fails) before;                                                                                                 \
    const int code = next(a, b, c, d, e, f, g, h, i, j, k, l);                                                         \
    if (fails) after;                                                                                                  \
    return code;                                                                                                       \
  }
