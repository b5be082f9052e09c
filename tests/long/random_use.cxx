// Random uses of the library, by number: each must end in a true solution, in a reason why there is none, or in an error that
// says what is wrong. random_use -seed S -first N -count M [-print] [-plain] [-seconds T] [-case_seconds T] [-progress FILE] [-backend cuda]
#include "common/support.hpp"
#include "common/use.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>

using namespace longtest;

namespace {

volatile long current = 0;
int progress_file = -1;

void write_progress(long state) { // the case, and whether an error has ended it
  const long now[2] = {current, state};
  if (progress_file >= 0) (void)!pwrite(progress_file, now, sizeof now, 0);
}

void write_refused() { write_progress(1); }

// Ends a case that takes too long, with its number; only what a signal handler may call.
void too_long(int) {
  char text[] = "HANG in case                     \n";
  long n = current;
  char *digit = text + 32;
  do *digit-- = char('0' + n % 10);
  while (n /= 10);
  (void)!write(1, text, sizeof text - 1);
  _exit(3);
}

struct Counts {
  long cases = 0, bad = 0, refused = 0, converged = 0, diverged = 0;
};

PetscLogDouble used() {
  PetscLogDouble bytes = 0;
  ok(PetscMallocGetCurrentUsage(&bytes));
  PetscLogDouble most = 0;
  MPI_Allreduce(&bytes, &most, 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD);
  return most;
}

// What a use leaves behind, where it is left again by the same use: what PETSc keeps for good is not.
std::string leak(const Wish &wish) {
  const PetscLogDouble before = used();
  (void)random_use(wish);
  const PetscLogDouble after = used();
  return after > before ? "leaves " + std::to_string(long(after - before)) + " bytes" : "";
}

void run_case(const Wish &wish, Counts &counts) {
  const PetscLogDouble before = used();
  Found found = random_use(wish);
  Wish plain = wish;
  plain.plain = true, plain.print = false;
  if (found.fault.empty() && !found.leaves && used() > before) {
    found.fault = leak(wish);
    if (!found.fault.empty() && !wish.plain && !leak(plain).empty()) found.fault.clear();
  }
  ++counts.cases;
  if (const std::string broken = device_error(); !broken.empty()) { // for all that this process could still do
    std::printf("BROKEN device in case %llu: %s\n  %s\n", (unsigned long long)wish.number, broken.c_str(),
                found.story.c_str());
    std::fflush(stdout);
    _exit(4);
  }
  counts.refused += found.refused, counts.converged += found.converged, counts.diverged += found.diverged;
  if (found.fault.empty()) return;
  if (!wish.plain && !random_use(plain).fault.empty()) return; // so does PETSc alone
  ++counts.bad;
  if (found.fault.compare(0, 6, "leaves") == 0 && wish.print) ok(PetscMallocDump(nullptr));
  if (rank() == 0)
    std::printf("BAD case %llu: %s\n  %s\n", (unsigned long long)wish.number, found.fault.c_str(), found.story.c_str()),
        std::fflush(stdout);
}

} // namespace

int main(int argc, char **argv) {
  const char *progress = nullptr;
  for (int i = 1; i + 1 < argc; ++i)
    if (!std::strcmp(argv[i], "-progress")) progress = argv[i + 1];
  const long first = number_after(argc, argv, "-first", 0), count = number_after(argc, argv, "-count", 100);
  const unsigned seconds = unsigned(number_after(argc, argv, "-case_seconds", 20));
  Wish wish;
  wish.seed = std::uint64_t(number_after(argc, argv, "-seed", 1));
  wish.print = given(argc, argv, "-print"), wish.plain = given(argc, argv, "-plain");
  if (!start(&argc, &argv, "random_use")) return 2;
  std::signal(SIGALRM, too_long);
  if (progress && rank() == 0) progress_file = open(progress, O_CREAT | O_WRONLY, 0644);
  wish.refused = write_refused;
  Counts counts;
  const double start_time = MPI_Wtime(), most_seconds = double(number_after(argc, argv, "-seconds", 1000000));
  for (long n = first; n < first + count; ++n) {
    int late = MPI_Wtime() - start_time > most_seconds;
    MPI_Bcast(&late, 1, MPI_INT, 0, PETSC_COMM_WORLD);
    if (late) break;
    wish.number = std::uint64_t(n), current = n;
    write_progress(0);
    alarm(seconds);
    run_case(wish, counts);
    if (wish.print && rank() == 0) std::printf("\n");
  }
  alarm(0);
  if (rank() == 0)
    std::printf("cases %ld, bad %ld, refused %ld, solves converged %ld, diverged %ld\n", counts.cases, counts.bad,
                counts.refused, counts.converged, counts.diverged);
  stop();
  return counts.bad ? 1 : 0;
}
