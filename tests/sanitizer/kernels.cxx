// Notes which kernels a program has, and which it launches: LD_PRELOAD=BUILD/tests/libkernels.so PETSCRRB_KERNELS=FILE.
// Appends lines "has NAME" and "launches NAME", each once; kernels.py reads them. Launches that a graph records count.
// The driver seems to be one without conditional nodes, which compute-sanitizer cannot follow (docs/devices.md).
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>

namespace {

struct Known {
  std::map<const void *, std::string> name;      // of the function on the host that stands for the kernel
  std::map<const void *, const void *> function; // behind a handle
  std::set<std::string> told;
  std::mutex one_at_a_time;
};
Known &
known() { // the library's kernels come before this file's own variables would be there, and it is never destroyed
  static Known *const all = new Known;
  return *all;
}

void tell(const std::string &line) {
  const char *const path = std::getenv("PETSCRRB_KERNELS");
  if (!path || !known().told.insert(line).second) return;
  const int file = open(path, O_WRONLY | O_APPEND | O_CREAT, 0666);
  if (file < 0) return;
  (void)!write(file, (line + "\n").c_str(), line.size() + 1);
  close(file);
}

void launched(const void *function) {
  const std::lock_guard<std::mutex> lock(known().one_at_a_time);
  auto found = known().name.find(function);
  if (found == known().name.end()) found = known().name.find(known().function[function]);
  if (found != known().name.end()) tell("launches " + found->second);
}

void registered(const void *function, const char *name) {
  Dl_info info;
  const std::lock_guard<std::mutex> lock(known().one_at_a_time);
  known().name[function] = name;
  const bool ours = dladdr(function, &info) && info.dli_fname && std::strstr(info.dli_fname, "libpetscrrb");
  if (ours) tell(std::string("has ") + name);
}

// All arguments are integers, pointers or small structs of them: they are handed on as words.
using Next = long (*)(long, long, long, long, long, long, long, long, long, long, long, long);
Next next(const char *name) { return reinterpret_cast<Next>(dlsym(RTLD_NEXT, name)); }

} // namespace

#define IN_FRONT_OF(function, before, after)                                                                           \
  __attribute__((visibility("default"))) long function(long a, long b, long c, long d, long e, long f, long g, long h, \
                                                       long i, long j, long k, long l) {                               \
    static const Next next_one = next(#function);                                                                      \
    before;                                                                                                            \
    const long code = next_one(a, b, c, d, e, f, g, h, i, j, k, l);                                                    \
    after;                                                                                                             \
    return code;                                                                                                       \
  }

static const void *pointer(long word) { return reinterpret_cast<const void *>(word); }

static void has_handle(long to, long function) {
  const std::lock_guard<std::mutex> lock(known().one_at_a_time);
  known().function[*reinterpret_cast<const void **>(to)] = pointer(function);
}

static void as_before_conditional_nodes(long version) {
  int *const v = reinterpret_cast<int *>(version);
  *v = std::min(*v, 12030); // they are from 12.4 on
}

extern "C" {
IN_FRONT_OF(cudaDriverGetVersion, (void)0, if (!(int)code) as_before_conditional_nodes(a))
IN_FRONT_OF(__cudaRegisterFunction, registered(pointer(b), reinterpret_cast<const char *>(d)), (void)0)
IN_FRONT_OF(__cudaGetKernel, (void)0, if (!(int)code) has_handle(a, b))
IN_FRONT_OF(__cudaLaunchKernel, launched(pointer(a)), (void)0)
IN_FRONT_OF(cudaLaunchKernel, launched(pointer(a)), (void)0)
IN_FRONT_OF(cudaLaunchCooperativeKernel, launched(pointer(a)), (void)0)
IN_FRONT_OF(cudaLaunchKernelExC, launched(pointer(b)), (void)0)
}
