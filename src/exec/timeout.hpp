// How long anything of ours waits for what others send, and the error where it does not come.
#pragma once

#include <atomic>
#include <cstdio>
#include <stdexcept>
#include <string>

namespace petscrrb {

// In seconds; 0: for ever. PetscRRBSetTimeout() sets it, for all that waits from then on.
inline std::atomic<double> timeout{60.0};

class TimedOut : public std::runtime_error {
public:
  // what did not come, or did not end
  explicit TimedOut(const std::string &what)
      : std::runtime_error(
            "waited " + seconds() + " s for " + what +
            ". Another rank may have failed, or a debugger or another program may be holding the device; "
            "-petscrrb_timeout sets how long to wait (0: forever)") {}

private:
  static std::string seconds() {
    char text[32];
    (void)std::snprintf(text, sizeof text, "%g", timeout.load());
    return text;
  }
};

} // namespace petscrrb
