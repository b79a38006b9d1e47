# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""httpd's cache: mod_cache_tandem under every enforcement, beside what httpd ships."""
