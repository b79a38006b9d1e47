# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The one reader of Tandem's files: results, reports, profiles, published values.

Each reader checks the file against its schema in docs/formats/ and gives frozen dataclasses.
"""

from tandem.formats.profile import Profile, ProfileSection, read_profile
from tandem.formats.published import Published, read_published
from tandem.formats.report import Report, ReportSection, read_report
from tandem.formats.result import Point, Result, Sample, read_result, write_result

__all__ = [
    "Point",
    "Profile",
    "ProfileSection",
    "Published",
    "Report",
    "ReportSection",
    "Result",
    "Sample",
    "read_profile",
    "read_published",
    "read_report",
    "read_result",
    "write_result",
]
