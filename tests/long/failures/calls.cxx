// Which calls are the library's: by their return addresses.
#include "calls.hpp"

#include <dlfcn.h>
#include <unistd.h>
#include <unwind.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>

namespace failures {

namespace {

enum class Place : unsigned char {
  unknown,
  library,
  petsc,
  petsc_malloc,
  petsc_new,
  standard,
  elsewhere
};

thread_local struct {
  bool counting = false, looking = false, failed = false, own = true, making = false;
  Kind kind{};
  Whose whose{};
  long n = -1, count = 0;
} now;

// no vector: it would allocate while allocations are counted
constexpr long most = 1 << 20;
std::uint64_t stacks[most];

Place look_up(const void *address) {
  Dl_info info;
  if (!dladdr(address, &info) || !info.dli_fname) return Place::elsewhere;
  if (std::strstr(info.dli_fname, "libpetscrrb")) return Place::library;
  if (std::strstr(info.dli_fname, "libstdc++")) return Place::standard;
  if (!std::strstr(info.dli_fname, "libpetsc")) return Place::elsewhere;
  const char *name = info.dli_sname ? info.dli_sname : "";
  // the user's preconditioner within ours, or an inner solver, and what it needs
  for (const char *others : {"PCApply", "PCSetUp", "KSPSolve", "KSPSetUp"})
    if (std::strcmp(name, others) == 0) return Place::elsewhere;
  if (std::strcmp(name, "PCSetType") == 0 || std::strcmp(name, "KSPSetType") == 0) return Place::petsc_new;
  return std::strncmp(name, "Petsc", 5) == 0 && std::strstr(name, "alloc") ? Place::petsc_malloc : Place::petsc;
}

// dladdr() takes longer than what is measured; addresses are few.
Place place_of(const void *address) {
  static std::array<std::pair<const void *, Place>, 1 << 14> known;
  auto &entry = known[(reinterpret_cast<std::uintptr_t>(address) * 0x9E3779B97F4A7C15u) >> 50];
  if (entry.first != address) entry = {address, look_up(address)};
  return entry.second;
}

struct Walk {
  std::uint64_t hash = 1469598103934665603u;
  int depth = 0, frames = 0;
  bool found = false, own = true, making = false;
  std::uintptr_t frame[3]; // the library's innermost ones
};

// From the innermost frame to the library's outermost one.
_Unwind_Reason_Code step(_Unwind_Context *context, void *data) {
  Walk &walk = *static_cast<Walk *>(data);
  const auto ip = _Unwind_GetIP(context);
  const Place place = place_of(reinterpret_cast<const void *>(ip - 1));
  const bool outside = place == Place::elsewhere;
  if (++walk.depth <= 4 && outside && !walk.found) return _URC_NO_REASON; // this program's own frames
  walk.making = walk.found && place == Place::petsc_new;
  if (outside || walk.depth > 64 || (walk.found && place != Place::library)) return _URC_END_OF_STACK;
  walk.found |= place == Place::library;
  if (place == Place::library && walk.frames < 3) walk.frame[walk.frames++] = ip - 1;
  walk.own &= place == Place::library || place == Place::standard || place == Place::petsc_malloc;
  walk.hash = (walk.hash ^ ip) * 1099511628211u;
  return _URC_NO_REASON;
}

// Where it was, in the library's addresses, before it may end the process.
void tell(const Walk &walk) {
  char text[128];
  int n = std::snprintf(text, sizeof text, walk.own ? "fails in" : "fails in PETSc for");
  for (int i = 0; i < walk.frames; ++i) {
    Dl_info info;
    dladdr(reinterpret_cast<const void *>(walk.frame[i]), &info);
    n += std::snprintf(text + n, sizeof text - std::size_t(n), " %zx",
                       std::size_t(walk.frame[i] - reinterpret_cast<std::uintptr_t>(info.dli_fbase)));
  }
  text[n++] = '\n';
  (void)!write(1, text, std::size_t(n));
}

} // namespace

void start(Kind kind, Whose whose, long n) {
  now = {};
  now.kind = kind;
  now.whose = whose;
  now.n = n;
  now.counting = true;
}

bool in_petsc() {
  void *innermost = nullptr;
  const auto find = [](_Unwind_Context *context, void *data) {
    void *const ip = reinterpret_cast<void *>(_Unwind_GetIP(context) - 1);
    if (place_of(ip) == Place::elsewhere) return _URC_NO_REASON;
    *static_cast<void **>(data) = ip;
    return _URC_END_OF_STACK;
  };
  _Unwind_Backtrace(find, &innermost);
  const Place place = place_of(innermost);
  return place != Place::library && place != Place::standard;
}

Seen stop() {
  now.counting = false;
  Seen seen;
  seen.failed = now.failed;
  seen.own = now.own;
  seen.making = now.making;
  seen.stack.assign(stacks, stacks + std::min(now.count, most));
  return seen;
}

bool must_fail(Kind kind, const void *caller) {
  if (!now.counting || now.kind != kind || now.looking) return false;
  now.looking = true; // the first unwinding allocates
  Walk walk;
  if (place_of(static_cast<const char *>(caller) - 1) != Place::elsewhere) _Unwind_Backtrace(step, &walk);
  now.looking = false;
  if (!walk.found || (now.whose == Whose::own && (!walk.own || walk.making))) return false;
  if (now.count < most) stacks[now.count] = walk.hash;
  const bool it = now.count++ == now.n;
  if (it) {
    now.failed = true;
    now.own = walk.own;
    now.making = walk.making;
    tell(walk);
  }
  return it;
}

} // namespace failures
