# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The engine's protocols for model.py, a file each (protocols_*.py).

`without` leaves parts out, which must then be errors.
"""

from __future__ import annotations

from protocols_alone import (
    alone,
    sleeping,
    switching,
    switching_alone,
)
from protocols_hybrid import (
    hybrid_alone,
    hybrid_changes_away,
    hybrid_changes_back,
    hybrid_free,
    hybrid_opacity,
    hybrid_privatisation,
    hybrid_update,
    hybrid_write_back,
)
from protocols_hybrid_colours import (
    hybrid_colour,
    hybrid_sharing,
)
from protocols_norec import (
    norec_in_place,
    norec_not_joined,
    norec_opacity,
    norec_privatisation,
)
from protocols_orecs import (
    eager_abort,
    eager_opacity,
    eager_privatisation,
    lazy_opacity,
    lazy_skew,
)
from protocols_short import (
    guarded_by_alone,
    guarded_by_opacity,
    guarded_by_short,
    in_place_alone,
    in_place_undone,
    short_alone,
    short_locks,
    short_switching,
)
from protocols_two_phase import (
    two_phase_opacity,
    two_phase_privatisation,
    two_upgrades,
)

__all__ = [
    "alone",
    "eager_abort",
    "eager_opacity",
    "eager_privatisation",
    "guarded_by_alone",
    "guarded_by_opacity",
    "guarded_by_short",
    "hybrid_alone",
    "hybrid_changes_away",
    "hybrid_changes_back",
    "hybrid_colour",
    "hybrid_free",
    "hybrid_opacity",
    "hybrid_privatisation",
    "hybrid_sharing",
    "hybrid_update",
    "hybrid_write_back",
    "in_place_alone",
    "in_place_undone",
    "lazy_opacity",
    "lazy_skew",
    "norec_in_place",
    "norec_not_joined",
    "norec_opacity",
    "norec_privatisation",
    "short_alone",
    "short_locks",
    "short_switching",
    "sleeping",
    "switching",
    "switching_alone",
    "two_phase_opacity",
    "two_phase_privatisation",
    "two_upgrades",
]
