// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/protocol/flask/flask_plus.h"
#include "machine/timing/timed_cores.h"

namespace tandem::machine::timing {

template std::unique_ptr<TimedCores> make<FlaskPlus>(const TimingOptions &, Harts &, Clock &,
                                                     Agenda *);

} // namespace tandem::machine::timing
