// Each case once, for sanitizers: by default with grids large enough for several threads everywhere.
//
//   OMP_NUM_THREADS=3 cases [-backend host|cuda] [-case NAME]... [-without OPTIONS]... [-size N]
#include "common/cases.hpp"

#include <cstdio>
#include <cstring>

using namespace longtest;

// Set-up, some iterations, the same with new values, and what is viewed.
static void use(const Case &c, int size) {
  ok(PetscOptionsClear(nullptr));
  ok(PetscOptionsInsertString(nullptr, c.options));
  ok(PetscOptionsInsertString(nullptr, "-ksp_max_it 3"));
  System system(c, size);
  const Solver ksp = system.solver();
  Vector x;
  ok(VecDuplicate(system.b, x.put()));
  for (int version = 0; version < 2; ++version) {
    system.set_values(version);
    ok(VecSet(x, 0));
    ok(KSPSolve(ksp, system.b, x));
  }
}

static bool chosen(const Case &c, int argc, char **argv) {
  bool named = !given(argc, argv, "-case");
  for (int i = 1; i + 1 < argc; ++i) {
    if (std::strcmp(argv[i], "-without") == 0 && std::strstr(c.options, argv[i + 1])) return false;
    named |= std::strcmp(argv[i], "-case") == 0 && std::strcmp(argv[i + 1], c.name) == 0;
  }
  return named;
}

int main(int argc, char **argv) {
  if (given(argc, argv, "-list")) {
    for (const Case &c : cases()) std::printf("%s\n", c.name);
    return 0;
  }
  if (!start(&argc, &argv, "cases")) return 2;
  const int size = int(number_after(argc, argv, "-size", 0));
  for (const Case &c : cases()) {
    if (!chosen(c, argc, argv)) continue;
    if (rank() == 0) std::printf("at %s\n", c.name), std::fflush(stdout);
    const bool cube = c.rows == Rows::seven || c.rows == Rows::cube;
    use(c, size ? size : cube ? 4 : 7);
  }
  if (rank() == 0) std::printf("done\n");
  stop();
}
