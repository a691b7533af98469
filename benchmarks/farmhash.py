"""FARM_FINGERPRINT and BIT_REVERSE over arrays, beside pyfarmhash and plain Python, in one run.

    python benchmarks/farmhash.py

Every figure is the best of several runs. "rows" hashes a uint8 array of shape (n, length), "list" n texts of one
length, "one by one" calls the function for each. The ratio: pyfarmhash (BIT_REVERSE: one by one) over rows.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

# pyfarmhash's module has the name of this file, which Python would find first
sys.path = [folder for folder in sys.path if Path(folder).resolve() != Path(__file__).resolve().parent]
import farmhash as pyfarmhash  # noqa: E402

from spanlab.farmhash import (  # noqa: E402
    bit_reverse,
    bit_reverse_array,
    farm_fingerprint,
    farm_fingerprint_array,
)

TEXTS = 200_000
LENGTHS = {8: "ShardKey", 20: "an INT64 as text", 26: "ULID", 36: "UUID", 100: "a long key"}


def nanoseconds(action: Callable[[], object], values: int, runs: int = 5) -> float:
    """The best time of `action` over `values` values, for each of them."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return min(times) / values * 1e9


def main() -> None:
    rng = np.random.default_rng(5)
    print(f"{'nanoseconds a value':28} {'rows':>10} {'list':>10} {'one by one':>12} {'pyfarmhash':>12} {'ratio':>8}")
    for length, name in LENGTHS.items():
        rows = rng.integers(48, 91, (TEXTS, length), np.uint8)
        texts = [bytes(row).decode() for row in rows]
        few = texts[: TEXTS // 20]
        array = nanoseconds(lambda rows=rows: farm_fingerprint_array(rows), TEXTS)
        listed = nanoseconds(lambda texts=texts: farm_fingerprint_array(texts), TEXTS)
        single = nanoseconds(lambda few=few: [farm_fingerprint(text) for text in few], len(few))
        peer = nanoseconds(lambda texts=texts: [pyfarmhash.fingerprint64(text) for text in texts], TEXTS)
        label = f"{length:4} bytes: {name}"
        print(f"{label:28} {array:10.1f} {listed:10.0f} {single:12.0f} {peer:12.0f} {peer / array:8.1f}")
    numbers = rng.integers(-(2**63), 2**63 - 1, TEXTS)
    few_numbers = numbers[: TEXTS // 20].tolist()
    for preserve_sign in (True, False):
        array = nanoseconds(lambda sign=preserve_sign: bit_reverse_array(numbers, sign), TEXTS)
        single = nanoseconds(lambda sign=preserve_sign: [bit_reverse(n, sign) for n in few_numbers], len(few_numbers))
        label = f"BIT_REVERSE(n, {preserve_sign})".upper()
        print(f"{label:28} {array:10.1f} {'':10} {single:12.0f} {'':12} {single / array:8.1f}")


if __name__ == "__main__":
    main()
