"""Settings for all tests.

The suite tries the same examples in every run, so that a change is judged by what it changed. Fuzzing at length, with
fresh examples, is what the environment variable SPANLAB_FUZZ (how many) is for.
"""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("suite", derandomize=True)
if "SPANLAB_FUZZ" not in os.environ:
    settings.load_profile("suite")
