# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import sys

from tandem.bench.cli import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
