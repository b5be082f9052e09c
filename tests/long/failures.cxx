// Every allocation, every call of MPI and every call of CUDA fails once, in each phase of each case: there must be an
// error (the same on all ranks), no crash, no wait without end, and the next solve must be right.
//
//   failures -kind memory|mpi|cuda [-case NAME]... [-phase PHASE -n N] [-rank R] [-from CASE:PHASE:N] [-seconds S] [-all]
//
// It prints what it is about to do, so that a crash can be told: tests/long/failures.py reads that, and goes on behind.
#include "common/cases.hpp"
#include "failures/calls.hpp"

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>

const int failures::mpi_error = MPI_ERR_OTHER;

using namespace longtest;

namespace {

const char *const phases[] = {"create", "setup", "solve", "refresh", "view"};
enum Phase {
  create,
  setup,
  solve,
  refresh,
  view,
  phase_count
};
const unsigned longest = 20; // seconds that one use may take
const int aborts = 77;       // exit status: the rank whose MPI failed has its error, which ends a program

struct Wishes {
  failures::Kind kind = failures::memory;
  std::vector<const Case *> cases;
  int only_phase = -1, rank = -1; // rank -1: all of them fail
  long only_n = -2;               // -1: no call fails
  std::string from_case;
  int from_phase = 0;
  long from_n = 0;
  double seconds = 1e9;
  bool all = false;
} wishes;

void say(const char *format, ...) {
  va_list arguments;
  if (rank()) return;
  va_start(arguments, format);
  std::vprintf(format, arguments);
  va_end(arguments);
  std::fflush(stdout);
}

double seconds_since_start() {
  static const auto start = std::chrono::steady_clock::now();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// The calls of an application that uses a case.
class Use {
public:
  explicit Use(System &system) : system_(system) {
    ok(VecDuplicate(system.b, x_.put()));
    system_.set_values(0);
  }

  void prepare(Phase phase) {
    if (phase == refresh) system_.set_values(1);
    ok(VecSet(x_, system_.what.flags & Case::guess ? 0.5 : 0));
  }
  PetscErrorCode run(Phase phase) {
    solving_ = false;
    switch (phase) {
    case create: try { ksp_ = system_.solver();
      } catch (const Refused &refusal) {
        return refusal.code;
      }
      return PETSC_SUCCESS;
    case setup: return KSPSetUp(ksp_);
    case view: return KSPView(ksp_, sink());
    case refresh:
      if (const PetscErrorCode code = KSPSetUp(ksp_)) return code;
      [[fallthrough]];
    default: solving_ = true; return KSPSolve(ksp_, system_.b, x_);
    }
  }
  bool solving() const { return solving_; } // it had begun at the last run's end
  // After an error, or instead of what was not done before: what it takes to solve again.
  PetscErrorCode again(bool solve_failed) {
    if (!static_cast<KSP>(ksp_)) {
      const PetscErrorCode code = run(create);
      if (code) return code;
    }
    if (solve_failed && wishes.kind != failures::memory && PETSC_VERSION_GE(3, 20, 0)) {
      Mat A, P; // the error leaves work vectors locked, which 3.18 does not do
      ok(KSPGetOperators(ksp_, &A, &P));
      ok(KSPReset(ksp_));
      ok(KSPSetOperators(ksp_, A, P));
    }
    prepare(solve);
    return run(solve);
  }
  void forget() { ok(KSPDestroy(ksp_.put())); }
  std::string why_wrong() {
    KSPConvergedReason reason;
    ok(KSPGetConvergedReason(ksp_, &reason));
    if (reason < 0) return std::string("diverged: ") + KSPConvergedReasons[reason];
    const double residual = system_.residual(x_);
    return residual < 1e-5 ? "" : "called converged with a relative residual of " + std::to_string(residual);
  }

private:
  PetscViewer sink() {
    if (!static_cast<PetscViewer>(sink_)) ok(PetscViewerASCIIOpen(PETSC_COMM_WORLD, "/dev/null", sink_.put()));
    return sink_;
  }

  System &system_;
  Handle<PetscViewer, PetscViewerDestroy> sink_;
  Solver ksp_;
  Vector x_;
  bool solving_ = false;
};

bool armed() { return wishes.rank < 0 || wishes.rank == rank(); }

// On its way out of PETSc the code is not always kept: 3.18 returns the number of the line in its place, 3.26 at places a 1.
bool no_memory_in_petsc() { return raised.function == "PetscMallocAlign"; }

bool expected(PetscErrorCode code) {
  switch (wishes.kind) {
  case failures::memory: return code == PETSC_ERR_MEM || no_memory_in_petsc();
  case failures::cuda: return code == PETSC_ERR_MEM || code == PETSC_ERR_GPU;
  default: return true;
  }
}

std::string words(PetscErrorCode code) {
  return "error " + std::to_string(int(code)) + " (" + raised.function + ": " + raised.message.substr(0, 150) + ")";
}

// Whether all ranks come to this call; a rank that is `impatient` waits for two seconds. MPI may be lost to it.
bool all_come(bool impatient) {
  int all = !impatient || wishes.kind != failures::mpi;
  MPI_Request request;
  if (!all) return false;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  const double begin = seconds_since_start();
  do MPI_Test(&request, &all, MPI_STATUS_IGNORE);
  while (!all && !(impatient && seconds_since_start() - begin > 2));
  return all;
}

// What is wrong with how the phase ended on all ranks; empty: nothing.
std::string why_bad(Use &use, Phase phase, PetscErrorCode code) {
  int mine = int(code), least, most;
  // a rank alone has lost its MPI, or its device in the middle of a solve: the others may be anywhere
  const bool alone = wishes.kind == failures::mpi || (wishes.kind == failures::cuda && use.solving());
  if (alone && wishes.rank >= 0 && ranks() > 1 && !all_come(code && armed()))
    std::printf("aborts\n"), std::fflush(stdout), MPI_Abort(MPI_COMM_WORLD, aborts);
  MPI_Allreduce(&mine, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&mine, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (least != most) return "errors differ between ranks: " + std::to_string(least) + " and " + std::to_string(most);
  int as_expected = expected(code); // PETSc's own code, that of the rank that failed
  MPI_Allreduce(MPI_IN_PLACE, &as_expected, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (code) return as_expected ? "" : words(code);
  return phase == solve || phase == refresh ? use.why_wrong() : "";
}

// By the library, and not within PETSc.
bool raised_here() { return raised.file.compare(0, 4, "src/") == 0; }

template <std::size_t n> [[noreturn]] void end(const char (&text)[n]) {
  (void)!write(1, text, n - 1);
  _exit(1);
}

struct Tried {
  failures::Seen seen;
  std::string bad;
};

// The use of a system up to this phase, in which call n fails, and once more without failures.
Tried try_once(System &system, Phase phase, long n) {
  Tried tried;
  Use use(system);
  alarm(longest);
  for (int before = create; before < phase; ++before) {
    use.prepare(Phase(before));
    ok(use.run(Phase(before)));
  }
  use.prepare(phase);
  raised = {};
  // PETSc has no way for ranks to agree, nor to go on where its own communication failed
  const bool petscs = ranks() == 1 && wishes.kind == failures::memory;
  failures::start(wishes.kind, petscs ? failures::Whose::any : failures::Whose::own, armed() ? n : -1);
  const PetscErrorCode code = use.run(phase);
  tried.seen = failures::stop();
  tried.bad = why_bad(use, phase, code);
  if (!tried.bad.empty()) return tried;
  alarm(longest);
  const std::string first = code ? words(code) : "no error";
  raised = {};
  if (code && tried.seen.making) use.forget(); // nobody uses what could not be made
  const PetscErrorCode later = use.again(code && (phase == solve || phase == refresh));
  if (later && !tried.seen.own && !raised_here()) end("PETSc is broken\n");
  if (later)
    tried.bad = "after " + first + " the next solve fails: " + words(later);
  else if (!(tried.bad = use.why_wrong()).empty())
    tried.bad = "after " + first + " the next solve is wrong: " + tried.bad;
  return tried;
}

// The numbers that are tried: the first and the last call from each place, or all.
std::vector<long> numbers(const failures::Seen &seen) {
  std::map<std::uint64_t, std::pair<long, long>> places;
  std::vector<long> out;
  for (std::size_t i = 0; i < seen.stack.size(); ++i) {
    const long n = long(i);
    const bool known = !places.insert({seen.stack[i], {n, n}}).second;
    if (known) places[seen.stack[i]].second = n;
    if (wishes.all) out.push_back(n);
  }
  if (!wishes.all)
    for (const auto &[place, n] : places) {
      out.push_back(n.first);
      if (n.second != n.first) out.push_back(n.second);
    }
  std::sort(out.begin(), out.end());
  // ranks agree on those of the one that fails
  int count = int(out.size());
  const int root = std::max(wishes.rank, 0);
  MPI_Bcast(&count, 1, MPI_INT, root, MPI_COMM_WORLD);
  out.resize(std::size_t(count));
  MPI_Bcast(out.data(), count, MPI_LONG, root, MPI_COMM_WORLD);
  return out;
}

long cases_tried = 0;
bool out_of_time() {
  int late = seconds_since_start() > wishes.seconds;
  MPI_Bcast(&late, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return late;
}

// Ends the process where ranks may be out of step.
void report(const Case &c, Phase phase, long n, const std::string &bad) {
  int here = !bad.empty(), somewhere;
  MPI_Allreduce(&here, &somewhere, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (!somewhere) return;
  if (here) std::printf("bad %s:%s:%ld: on rank %d %s\n", c.name, phases[phase], n, rank(), bad.c_str());
  std::fflush(stdout);
}

// Whether it is worth going on: not where it fails by itself.
bool try_phase(const Case &c, System &system, Phase phase) {
  const bool resumed = wishes.from_case == c.name;
  if (resumed && phase < wishes.from_phase) return true;
  // ranks agree on what they do together, and not on whether each could begin: as with PETSc's own types
  if (phase == create && ranks() > 1) return true;
  say("at %s:%s:-1\n", c.name, phases[phase]);
  const Tried whole = try_once(system, phase, -1);
  report(c, phase, -1, whole.bad);
  if (!whole.bad.empty()) return false;
  for (long n : numbers(whole.seen)) {
    if (wishes.only_n >= -1 && n != wishes.only_n) continue;
    if (resumed && phase == wishes.from_phase && n < wishes.from_n) continue;
    if (out_of_time()) return false;
    say("at %s:%s:%ld\n", c.name, phases[phase], n);
    report(c, phase, n, try_once(system, phase, n).bad);
    ++cases_tried;
  }
  return true;
}

void try_case(const Case &c) {
  ok(PetscOptionsClear(nullptr));
  ok(PetscOptionsInsertString(nullptr, c.options));
  System system(c);
  for (int phase = create; phase < phase_count; ++phase)
    if ((wishes.only_phase < 0 || phase == wishes.only_phase) && !try_phase(c, system, Phase(phase))) return;
}

int phase_of(const std::string &name) {
  for (int phase = 0; phase < phase_count; ++phase)
    if (name == phases[phase]) return phase;
  return -1;
}

void read_wishes(int argc, char **argv) {
  for (int i = 1; i + 1 < argc; ++i) {
    const std::string name = argv[i], value = argv[i + 1];
    if (name == "-kind")
      wishes.kind = value == "mpi" ? failures::mpi : value == "cuda" ? failures::cuda : failures::memory;
    if (name == "-case") wishes.cases.push_back(find_case(value));
    if (name == "-phase") wishes.only_phase = phase_of(value);
    if (name == "-n") wishes.only_n = std::stol(value);
    if (name == "-rank") wishes.rank = std::stoi(value);
    if (name == "-seconds") wishes.seconds = std::stod(value);
    if (name == "-from") {
      const auto first = value.find(':'), second = value.rfind(':');
      wishes.from_case = value.substr(0, first);
      wishes.from_phase = phase_of(value.substr(first + 1, second - first - 1));
      wishes.from_n = std::stol(value.substr(second + 1));
    }
  }
  wishes.all = given(argc, argv, "-all") || wishes.only_n >= -1;
  if (wishes.cases.empty())
    for (const Case &c : cases()) wishes.cases.push_back(&c);
}

extern "C" void too_long(int) { end("hangs\n"); }
extern "C" void crashed(int) {
  if (failures::in_petsc()) end("crashes in PETSc\n");
  end("crashes\n");
}

} // namespace

int main(int argc, char **argv) {
  if (given(argc, argv, "-list")) {
    for (const Case &c : cases()) std::printf("%s\n", c.name);
    return 0;
  }
  read_wishes(argc, argv);
  if (!start(&argc, &argv, "failures")) return 2;
  std::signal(SIGALRM, too_long);
  static char stack[1 << 16]; // its own, since endless recursion is a crash, too
  stack_t other{};
  other.ss_sp = stack;
  other.ss_size = sizeof stack;
  sigaltstack(&other, nullptr);
  struct sigaction action {};
  action.sa_handler = crashed;
  action.sa_flags = SA_ONSTACK;
  for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigaction(signal, &action, nullptr);
  bool begun = wishes.from_case.empty();
  for (const Case *c : wishes.cases) {
    if (!c) return 2;
    begun |= wishes.from_case == c->name;
    if (begun && !out_of_time()) try_case(*c);
  }
  say("tried %ld\n", cases_tried);
  alarm(0);
  stop();
}
