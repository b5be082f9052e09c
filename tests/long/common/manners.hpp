// What methods do of themselves, and where a system leaves them no way to know.
#pragma once

#include "oracle.hpp"

namespace longtest {

bool is_gmres(KSP);
bool is_deflated(KSP);
bool is_multigrid(KSP);      // its preconditioner is PETSc's
bool varies(PC);             // it has methods inside that are not linear
bool estimates(KSP);         // its residual is no more than an estimate, or one of the normal equations
bool may_be_own_loop(KSP);   // KSPRICHARDSON may have left its iteration to the preconditioner
bool by_first_residual(KSP); // tolerances refer to that of the guess

Long lost(const Claim &);         // what a recurrence may lose, of the numbers that it adds up
bool leaves_early(const Claim &); // its recurrences leave the true residual soon
bool may_overflow(const Claim &);
bool quotients_vanish(const Claim &);
bool divides_by_rounding(const Claim &);
bool has_solution(const Claim &);
bool is_in_range(const Claim &);
bool is_not_symmetric_for(KSP, const reference::Matrix &);

} // namespace longtest
