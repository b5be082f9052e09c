// What a user can set of PCBLOCKRELAX, what the view says, and what is refused.
#include "blockrelax_support.hpp"

#include <cmath>

using namespace petsctest;
using mic_support::uneven;

namespace {

struct Everything {
  PCBlockRelaxType type = PC_BLOCKRELAX_TYPE_JACOBI;
  PetscReal omega = PETSC_DECIDE, memory = 0;
  PetscInt sweeps = 1, colours = PETSC_DECIDE;
  PetscBool symmetric = PETSC_FALSE;
  PCBlockRelaxInverse inverse = PC_BLOCKRELAX_INVERSE_AUTO;
  PCBlockRelaxParallel parallel = PC_BLOCKRELAX_PARALLEL_AUTO;
  PetscInt block[3] = {}, grid[3] = {};
};

Everything all_of(PC pc) {
  Everything e;
  ok(PCBlockRelaxGetType(pc, &e.type));
  ok(PCBlockRelaxGetOmega(pc, &e.omega));
  ok(PCBlockRelaxGetMemory(pc, &e.memory));
  ok(PCBlockRelaxGetSweeps(pc, &e.sweeps));
  ok(PCBlockRelaxGetColours(pc, &e.colours));
  ok(PCBlockRelaxGetSymmetric(pc, &e.symmetric));
  ok(PCBlockRelaxGetInverse(pc, &e.inverse));
  ok(PCBlockRelaxGetParallel(pc, &e.parallel));
  ok(PCBlockRelaxGetBlockSize(pc, &e.block[0], &e.block[1], &e.block[2]));
  ok(PCBlockRelaxGetGrid(pc, &e.grid[0], &e.grid[1], &e.grid[2]));
  return e;
}

void expect_equal(const Everything &a, const Everything &b) {
  EXPECT_EQ(a.type, b.type);
  EXPECT_EQ(a.omega, b.omega);
  EXPECT_EQ(a.memory, b.memory);
  EXPECT_EQ(a.sweeps, b.sweeps);
  EXPECT_EQ(a.colours, b.colours);
  EXPECT_EQ(a.symmetric, b.symmetric);
  EXPECT_EQ(a.inverse, b.inverse);
  EXPECT_EQ(a.parallel, b.parallel);
  for (int d = 0; d < 3; ++d) {
    EXPECT_EQ(a.block[d], b.block[d]);
    EXPECT_EQ(a.grid[d], b.grid[d]);
  }
}

const Everything other{
    PC_BLOCKRELAX_TYPE_COLOURED,   1.25,      1e6,      3, 4, PETSC_TRUE, PC_BLOCKRELAX_INVERSE_DENSE,
    PC_BLOCKRELAX_PARALLEL_BLOCKS, {2, 3, 4}, {4, 3, 5}};
const Shape shape{4, 3, 5, false, false, false, 7};

class BlockRelaxChoices : public testing::Test {
protected:
  const Matrix A = matrix_of(reference_of(uneven(shape)));
};

TEST_F(BlockRelaxChoices, SettersAndGettersAgree) {
  const Preconditioner pc = relax_of(A);
  expect_equal(all_of(pc), Everything());
  ok(PCBlockRelaxSetType(pc, other.type));
  ok(PCBlockRelaxSetOmega(pc, other.omega));
  ok(PCBlockRelaxSetMemory(pc, other.memory));
  ok(PCBlockRelaxSetSweeps(pc, other.sweeps));
  ok(PCBlockRelaxSetColours(pc, other.colours));
  ok(PCBlockRelaxSetSymmetric(pc, other.symmetric));
  ok(PCBlockRelaxSetInverse(pc, other.inverse));
  ok(PCBlockRelaxSetParallel(pc, other.parallel));
  ok(PCBlockRelaxSetBlockSize(pc, 2, 3, 4));
  ok(PCBlockRelaxSetGrid(pc, 4, 3, 5));
  expect_equal(all_of(pc), other);
  ok(PCReset(pc));
  expect_equal(all_of(pc), other);
}

TEST_F(BlockRelaxChoices, OptionsSayTheSameAsSetters) {
  expect_equal(
      all_of(relax_of(A, "-pc_blockrelax_type coloured -pc_blockrelax_omega 1.25 -pc_blockrelax_memory 1e6 "
                         "-pc_blockrelax_sweeps 3 -pc_blockrelax_colours 4 -pc_blockrelax_symmetric "
                         "-pc_blockrelax_inverse dense -pc_blockrelax_parallel blocks -pc_blockrelax_block_size 2,3,4 "
                         "-pc_blockrelax_grid 4,3,5")),
      other);
  EXPECT_EQ(all_of(relax_of(A, "-pc_blockrelax_grid 20,3")).grid[2], 1);
  EXPECT_EQ(all_of(relax_of(A, "-pc_blockrelax_block_size 20,3")).block[2], 1);
}

TEST_F(BlockRelaxChoices, GettersTellWhatIsInUse) {
  const Preconditioner pc = relax_of(A);
  ok(PCSetUp(pc));
  Everything found{PC_BLOCKRELAX_TYPE_JACOBI, 0.8};
  for (int d = 0; d < 3; ++d) found.block[d] = found.grid[d] = d == 0 ? 4 : d == 1 ? 3 : 5;
  expect_equal(all_of(pc), found);
  ok(PCBlockRelaxSetType(pc, PC_BLOCKRELAX_TYPE_COLOURED));
  ok(PCBlockRelaxSetBlockSize(pc, 2, 2, 2));
  ok(PCSetUp(pc));
  EXPECT_EQ(all_of(pc).omega, 1);
  EXPECT_EQ(all_of(pc).colours, 2);
  EXPECT_EQ(all_of(pc).block[0], 2);
  const Matrix B = matrix_of(reference_of(uneven({70, 40})));
  const Preconditioner flat = relax_of(B);
  ok(PCSetUp(flat));
  EXPECT_EQ(all_of(flat).block[0], 32);
  EXPECT_EQ(all_of(flat).block[1], 32);
  EXPECT_EQ(all_of(flat).block[2], 1);
}

TEST_F(BlockRelaxChoices, KeepThePatches) {
  const Preconditioner pc = relax_of(A);
  PetscInt n = -1;
  const PetscInt set[] = {4, 3, 2, 4, 3, 3}, *sizes = nullptr;
  ok(PCBlockRelaxSetPatches(pc, 2, set));
  ok(PCSetUp(pc));
  for (int again = 0; again < 2; ++again) {
    ok(PCBlockRelaxGetPatches(pc, &n, &sizes));
    EXPECT_EQ(n, 2);
    EXPECT_EQ(std::vector<PetscInt>(sizes, sizes + 6), std::vector<PetscInt>(set, set + 6));
    ok(PCReset(pc));
  }
  ok(PCBlockRelaxSetGrid(pc, 4, 3, 5));
  ok(PCBlockRelaxGetPatches(pc, &n, nullptr));
  EXPECT_EQ(n, 0);
}

// Threads, budgets and inverses are no part of what is computed.
TEST_F(BlockRelaxChoices, OfHowGiveTheSame) {
  const Matrix constant = matrix_of(cube(9, 3, 1).A);
  for (const auto &[P, size] : {std::pair<Mat, std::size_t>{A, 60}, {constant, 729}}) {
    const reference::Vector r = random_values(size);
    const std::string options = "-pc_blockrelax_type coloured -pc_blockrelax_block_size 4,4,4 ";
    const reference::Vector z = applied(relax_of(P, options), r);
    for (const char *how : {"-pc_blockrelax_inverse dense", "-pc_blockrelax_inverse tensor", "-pc_blockrelax_memory 1",
                            "-pc_blockrelax_parallel patches", "-pc_blockrelax_parallel blocks",
                            "-pc_blockrelax_parallel both", "-pc_blockrelax_colours 8"})
      EXPECT_LT(largest_difference(applied(relax_of(P, options + how), r), z),
                std::string(how).back() == '8' ? 1 : 1e-12)
          << how;
  }
}

void expect_raised(PetscErrorCode code, PetscErrorCode expected, const std::string &word) {
  EXPECT_TRUE(refused(code)) << word;
  EXPECT_EQ(raised.code, expected) << raised.message;
  EXPECT_NE(raised.message.find(word), std::string::npos) << word << "\n is not in: " << raised.message;
  raised = {};
}

TEST_F(BlockRelaxChoices, OutOfRangeAreRefused) {
  const Preconditioner pc = relax_of(A);
  const PetscInt bad[] = {4, 3, 2, 4, 0, 3};
  const auto range = PETSC_ERR_ARG_OUTOFRANGE;
  expect_raised(PCBlockRelaxSetType(pc, (PCBlockRelaxType)3), range, "PCBlockRelaxType 3");
  expect_raised(PCBlockRelaxSetOmega(pc, 0), range, "Omega 0");
  expect_raised(PCBlockRelaxSetOmega(pc, 2), range, "Omega 2");
  expect_raised(PCBlockRelaxSetOmega(pc, std::nan("")), range, "Omega nan");
  expect_raised(PCBlockRelaxSetMemory(pc, -1), range, "-1. bytes");
  expect_raised(PCBlockRelaxSetSweeps(pc, 0), range, "sweeps 0");
  expect_raised(PCBlockRelaxSetColours(pc, 0), range, "colours 0");
  expect_raised(PCBlockRelaxSetInverse(pc, (PCBlockRelaxInverse)3), range, "PCBlockRelaxInverse 3");
  expect_raised(PCBlockRelaxSetParallel(pc, (PCBlockRelaxParallel)4), range, "PCBlockRelaxParallel 4");
  expect_raised(PCBlockRelaxSetBlockSize(pc, 1, 0, 1), range, "1 x 0 x 1");
  expect_raised(PCBlockRelaxSetGrid(pc, 1, 0, 1), range, "1 x 0 x 1");
  expect_raised(PCBlockRelaxSetPatches(pc, 2, bad), range, "Patch 1 of 4 x 0 x 3");
  expect_equal(all_of(pc), Everything());
  EXPECT_THROW(relax_of(A, "-pc_blockrelax_grid 60"), std::runtime_error);
  EXPECT_THROW(relax_of(A, "-pc_blockrelax_block_size 4"), std::runtime_error);
}

TEST_F(BlockRelaxChoices, ThatDoNotGoTogetherAreRefused) {
  const auto expect = [&](Mat P, const std::string &options, const char *word) {
    expect_raised(PCSetUp(relax_of(P, options)), PETSC_ERR_ARG_INCOMP, word);
  };
  expect(A, "-pc_blockrelax_symmetric", "jacobi is always symmetric");
  expect(A, "-pc_blockrelax_colours 2", "-pc_blockrelax_type coloured");
  expect(A, "-pc_blockrelax_type coloured -pc_blockrelax_block_size 2,2,2 -pc_blockrelax_colours 1", "need 2 here");
  const Matrix nine = matrix_of(reference_of(uneven({9, 8, 1, false, false, false, 9})));
  expect(nine, "-pc_blockrelax_type coloured -pc_blockrelax_block_size 2,2 -pc_blockrelax_colours 3", "need 4 here");
  const Matrix around = matrix_of(reference_of(uneven({9, 8, 1, true})));
  expect(around, "-pc_blockrelax_type coloured -pc_blockrelax_block_size 3,2 -pc_blockrelax_colours 2", "need 3 here");
  for (const PetscInt last : {4, 6}) {
    const Preconditioner pc = relax_of(A);
    const PetscInt sizes[] = {4, 3, last};
    ok(PCBlockRelaxSetPatches(pc, 1, sizes));
    expect_raised(PCSetUp(pc), PETSC_ERR_ARG_INCOMP, last == 4 ? "fewer unknowns" : "more unknowns");
  }
  expect(A, "-pc_blockrelax_grid 5,4,3", "does not fit");
}

// ---- the view ----

void expect_lines(PC pc, const std::vector<std::string> &lines) {
  const std::string text = view(pc);
  for (const std::string &line : lines)
    EXPECT_NE(text.find("    " + line + "\n"), std::string::npos) << line << "\n" << text;
}

TEST_F(BlockRelaxChoices, AreInTheView) {
  const Preconditioner pc = relax_of(A, "-pc_blockrelax_block_size 2,2,2");
  expect_lines(pc, {"block Jacobi, omega: the default", "not set up yet"});
  ok(PCSetUp(pc));
  expect_lines(pc, {"block Jacobi, omega: 0.8 (the default)", "grid: 4 x 3 x 5, 7-point, from the matrix pattern",
                    "blocks: 2 x 2 x 2, 12 of them", "coefficients: variable",
                    backend.device ? "backend: cuda" : "backend: host"});
  EXPECT_NE(view(pc).find("memory: "), std::string::npos);
  for (const char *word : {"ranks", "identity", "periodic", "colours", "sweeps"})
    EXPECT_EQ(view(pc).find(word), std::string::npos) << word;
  ok(PCBlockRelaxSetType(pc, PC_BLOCKRELAX_TYPE_COLOURED));
  ok(PCBlockRelaxSetSymmetric(pc, PETSC_TRUE));
  ok(PCBlockRelaxSetSweeps(pc, 2));
  ok(PCSetUp(pc));
  expect_lines(pc, {"symmetric coloured block Gauss-Seidel, omega: 1. (the default)", "sweeps: 2", "colours: 2"});
  const Matrix B = matrix_of(cube(9, 3, 0).A);
  const Preconditioner constant = relax_of(B, "-pc_blockrelax_type chaotic -pc_blockrelax_block_size 4,4,4");
  ok(PCSetUp(constant));
  expect_lines(constant, {"chaotic block Gauss-Seidel, omega: 1. (the default)", "coefficients: constant",
                          "inverses: tensor, 8 held"});
}

// ---- what is refused ----

TEST_F(BlockRelaxChoices, OfMatricesAreRefused) {
  const reference::Matrix good = reference_of(uneven({10, 9}));
  reference::Matrix skew = good, bad = good, far = good;
  skew.row[44][45] = -0.625, skew.row[45][44] = -0.25;
  bad.row[31][32] = std::nan("");
  far.add(23, 61, -0.5), far.add(61, 23, -0.5);
  const auto expect = [](const reference::Matrix &values, const char *word) {
    const Matrix P = matrix_of(values);
    expect_raised(PCSetUp(relax_of(P)), PETSC_ERR_ARG_WRONG, word);
  };
  expect(skew, "row 44, column 45 holds -0.625");
  expect(bad, "row 31, column 32");
  expect(far, "another preconditioner");
  const Matrix P = matrix_of(far);
  const Preconditioner pc = relax_of(P);
  const PetscInt sizes[] = {10, 9, 1};
  ok(PCBlockRelaxSetPatches(pc, 1, sizes));
  expect_raised(PCSetUp(pc), PETSC_ERR_ARG_WRONG, "within a patch, a row couples with one that is not a neighbour");
}

TEST_F(BlockRelaxChoices, OfBlocksThatAreNotDefiniteNameTheRow) {
  reference::Matrix values = cube(9, 2, 0).A;
  values.row[31][31] = 0.1; // its neighbours are too strong for it
  const Matrix P = matrix_of(values);
  const Preconditioner pc = relax_of(P, "-pc_blockrelax_block_size 3,3");
  ok(PCSetErrorIfFailure(pc, PETSC_TRUE));
  expect_raised(PCSetUp(pc), PETSC_ERR_MAT_LU_ZRPVT, "not positive definite");
}

} // namespace
