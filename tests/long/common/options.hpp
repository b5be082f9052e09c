// Random options of the library's types: legal values mostly.
#pragma once

#include "problem.hpp"

#include <string>

namespace longtest {

struct Words { // options, and whether each of them is one that a set-up has to accept
  std::string text;
  bool legal = true;
};

// Options of -pc_type `type` (rrb, mic, neumann, blockrelax), each after "-" + prefix.
Words pc_options(Random &random, const Problem &problem, const std::string &type, const std::string &prefix);
Words deflation_options(Random &random, const Problem &problem, const std::string &prefix);

} // namespace longtest
