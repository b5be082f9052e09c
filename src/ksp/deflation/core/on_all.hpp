// What each rank does by itself, and may fail at, between what all of them do together.
#pragma once

#include "ksp/deflation/core/deflation.hpp"

#include <exception>

namespace petscrrb::deflation {

// f(), in which ranks do nothing together. If it throws on one rank, or something was thrown there since they last did
// anything together, all of them throw. ranks null: f() alone.
template <class F> void on_all(const Ranks *ranks, const F &f) {
  if (!ranks) return f();
  std::exception_ptr mine;
  try {
    f();
  } catch (...) {
    mine = std::current_exception();
  }
  ranks->agree(mine);
}

} // namespace petscrrb::deflation
