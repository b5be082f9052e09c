// What makes a grid's matrix unusual.
#include "defects.hpp"

#include <limits>

namespace longtest {

namespace {

enum Treatment {
  gone,
  stored_zeros,
  columns_kept
};

// Row `i` couples to nothing more; its diagonal is `value`.
void disconnect(Problem &p, int i, double value, Treatment treatment) {
  for (auto entry = p.A.row[i].begin(); entry != p.A.row[i].end();) {
    const int j = entry->first;
    if (j == i) {
      ++entry;
      continue;
    }
    if (treatment != columns_kept) {
      if (treatment == gone)
        p.A.row[j].erase(i);
      else if (p.A.row[j].count(i))
        p.A.row[j][i] = 0;
    }
    if (treatment == gone)
      entry = p.A.row[i].erase(entry);
    else
      entry->second = 0, ++entry;
  }
  p.A.row[i][i] = value;
}

void any_entry(Random &random, Problem &p, double value, bool diagonal) {
  const int i = random.integer(0, p.size() - 1);
  auto &row = p.A.row[i];
  if (diagonal || row.empty()) {
    row[i] = value;
    return;
  }
  auto entry = row.begin();
  std::advance(entry, random.integer(0, int(row.size()) - 1));
  entry->second = value;
}

void cut(Random &random, Problem &p, bool stored) { // a line of faces: two parts without a connection
  const int d = random.integer(0, p.dimensions - 1);
  if (p.n[d] < 2) return;
  const int at = random.integer(1, p.n[d] - 1), stride = d == 0 ? 1 : d == 1 ? p.n[0] : p.n[0] * p.n[1];
  const bool singular = random.chance(0.5); // the faces are gone, or they are sides with known values
  const auto low = [&](int row) { return row / stride % p.n[d] < at; };
  for (int i = 0; i < p.size(); ++i)
    for (auto entry = p.A.row[i].begin(); entry != p.A.row[i].end();) {
      if (low(i) == low(entry->first)) {
        ++entry;
        continue;
      }
      if (singular && entry->second < 0) p.A.row[i][i] += entry->second;
      if (stored)
        entry->second = 0, ++entry;
      else
        entry = p.A.row[i].erase(entry);
    }
  p.masked = true;
  if (singular) p.definite = p.tame = false;
  if (!singular && !p.definite) p.definite = p.null_space.empty();
  if (random.chance(0.5) || !singular) p.null_space.clear(); // else there are more than it says
  p.words += singular ? ", cut in two" : ", cut in two by known values";
}

void unrelated(Random &random, Problem &p) {
  const int n = p.size();
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < 3; ++k) {
      const int j = random.integer(0, n - 1);
      const double a = random.between(-1, 1);
      if (j == i) continue;
      p.A.row[i][j] += a, p.A.row[j][i] += a;
      p.A.row[i][i] += std::abs(a), p.A.row[j][j] += std::abs(a);
    }
  p.null_space.clear(); // constants are none any more
  p.words += ", couplings across the grid";
  p.on_grid = p.tame = false;
}

} // namespace

void mask_points(Random &random, Problem &p) {
  if (!p.size()) return;
  if (random.chance(0.06)) cut(random, p, random.chance(0.5));
  if (!random.chance(0.2)) return;
  const double part = random.of({0.05, 0.3, 0.9, 1.0});
  const Treatment treatment = random.of({gone, stored_zeros, columns_kept});
  const int values = random.integer(0, 5); // 1 mostly, the diagonal that was there, any, or none at all
  const bool rim = random.chance(0.4);
  bool any = false, zero = false;
  for (int i = 0; i < p.size(); ++i) {
    bool on_rim = false;
    const int at[3] = {i % p.n[0], i / p.n[0] % p.n[1], i / p.n[0] / p.n[1]};
    for (int d = 0; d < p.dimensions; ++d) on_rim = on_rim || at[d] == 0 || at[d] == p.n[d] - 1;
    if (rim ? !on_rim : !random.chance(part)) continue;
    const double diagonal = p.A.at(i, i), value = values == 5   ? 0
                                                  : values == 4 ? random.power(-3, 3)
                                                  : values == 3 ? diagonal
                                                                : 1;
    disconnect(p, i, value, treatment);
    any = true, zero = zero || value == 0;
  }
  if (!any) return;
  p.masked = true;
  p.words += std::string(rim ? ", a rim" : ", points") + (zero ? " of zero rows" : " of known values");
  if (treatment == columns_kept) p.words += " with columns", p.known_columns = true;
  if (zero) {
    p.definite = p.tame = false;
    if (treatment == columns_kept) p.symmetric = false;
  }
  if (p.definite || p.null_space.empty()) return;
  p.null_space.clear(); // constants are none any more
  p.tame = false;
}

void add_defect(Random &random, Problem &p) {
  if (!p.size()) return;
  const int kind = random.integer(0, 9), i = random.integer(0, p.size() - 1);
  const double wrong[] = {NAN, INFINITY, -INFINITY, std::numeric_limits<double>::max()};
  p.tame = false;
  if (kind < 7 || kind == 8) p.null_space.clear(); // constants are none any more
  switch (kind) {
  case 0:
    any_entry(random, p, wrong[random.integer(0, 3)], random.chance(0.5));
    p.words += ", an entry that is NaN, Inf or huge";
    p.finite = p.symmetric = p.semidefinite = p.definite = false;
    break;
  case 1:
  case 2: {
    const double diagonal[] = {0, -p.A.at(i, i), 1e-300, 1e300, -1e-300, 1e-10 * p.A.at(i, i)};
    p.A.row[i][i] = diagonal[random.integer(0, 5)];
    p.words += ", the diagonal of row " + std::to_string(i) + " is wrong";
    p.semidefinite = p.definite = false;
    break;
  }
  case 3:
  case 4:
    any_entry(random, p, random.between(-1, 1), false);
    p.words += ", one entry is another";
    p.symmetric = p.semidefinite = p.definite = false;
    break;
  case 5:
    if (p.A.row[i].size() > 1)
      p.A.row[i].erase(p.A.row[i].begin()->first == i ? std::next(p.A.row[i].begin()) : p.A.row[i].begin());
    p.words += ", one entry is not there";
    p.symmetric = p.semidefinite = p.definite = false;
    break;
  case 6: {
    const int j = random.integer(0, p.size() - 1);
    if (j != i) p.A.row[i][j] += 0.1, p.A.row[j][i] += 0.1;
    p.words += ", one coupling more";
    p.on_grid = p.semidefinite = p.definite = false;
    break;
  }
  case 7: unrelated(random, p); break;
  case 8:
    p.A.row[i].clear();
    p.words += ", row " + std::to_string(i) + " is empty";
    p.symmetric = p.semidefinite = p.definite = false;
    break;
  default:
    if (random.chance(0.7)) {
      for (int k = 0; k < p.size() / 3 + 1; ++k) { // stored zeros, which change nothing
        const int a = random.integer(0, p.size() - 1), b = random.integer(0, p.size() - 1);
        p.A.row[a].emplace(b, 0.0);
      }
      p.words += ", stored zeros";
      return;
    }
    p.columns += random.integer(1, 3);
    p.words += ", rectangular";
    p.symmetric = p.semidefinite = p.definite = false;
  }
}

} // namespace longtest
