// The base of what owns something that cannot be copied.
#pragma once

namespace petscrrb {

struct NotCopied {
  NotCopied() = default;
  NotCopied(const NotCopied &) = delete;
  NotCopied &operator=(const NotCopied &) = delete;
};

} // namespace petscrrb
