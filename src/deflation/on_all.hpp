// What each rank does by itself, and may fail at, between what all of them do together.
#pragma once

#include "deflation/deflation.hpp"

#include <exception>
#include <stdexcept>

namespace petscrrb::deflation {

// f(), in which ranks do nothing together. If it throws on one rank, all of them throw its words. ranks null: f() alone.
template <class F> void on_all(const Ranks *ranks, const F &f) {
  if (!ranks) return f();
  std::string why;
  try {
    f();
  } catch (const std::exception &e) {
    why = e.what();
  }
  why = ranks->first(why);
  if (!why.empty()) throw std::runtime_error(why);
}

} // namespace petscrrb::deflation
