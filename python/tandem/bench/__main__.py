# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import sys

from tandem.interrupts import end_at_once

end_at_once()  # modules take a while to load

from tandem.bench.cli import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
