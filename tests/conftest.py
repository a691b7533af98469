"""Settings for all tests.

The suite tries the same examples in every run, so that a change is judged by what it changed. Fuzzing at length, with
fresh examples, is what the environment variable SPANLAB_FUZZ (how many) is for.
"""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest
from hypothesis import settings

settings.register_profile("suite", derandomize=True)
if "SPANLAB_FUZZ" not in os.environ:
    settings.load_profile("suite")


@pytest.fixture
def complaints(capfd: pytest.CaptureFixture[str]) -> Callable[[], list[str]]:
    """Reads the lines on stderr, those of other processes too. On a busy machine a kernel notes that it was interrupted
    while it ended, which is no complaint."""

    def read() -> list[str]:
        return [line for line in capfd.readouterr().err.splitlines() if "KeyboardInterrupt caught" not in line]

    return read
