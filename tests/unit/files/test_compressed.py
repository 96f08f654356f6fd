"""Compressed files: what is unpacked, how far, and what is wrong with damaged ones."""

from __future__ import annotations

import os

import pytest
import zstandard

from structures_text import COMPRESS
from toporank.files.compressed import (
    BEGINNINGS,
    DAMAGED,
    ENDINGS,
    compression_of,
    unpacked,
    without_compression,
)

TEXT = os.urandom(3000) + b"abc" * 5000


def test_a_name_says_how_a_file_is_compressed():
    for ending in ENDINGS:
        assert compression_of(f"m.cif{ending.upper()}") == ending
        assert without_compression(f"m.cif{ending.upper()}") == "m.cif"
    assert compression_of("m.cif") == ""
    assert without_compression("zst") == "zst"


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_file_is_unpacked_also_of_several_parts_and_no_further_than_it_may(ending):
    packed = COMPRESS[ending](TEXT)
    assert (
        BEGINNINGS[next(start for start in BEGINNINGS if packed.startswith(start))]
        == ending
    )
    assert unpacked(packed, ending, len(TEXT)) == TEXT
    assert unpacked(packed + packed, ending, 2 * len(TEXT)) == TEXT + TEXT
    assert unpacked(packed, ending, 100) == TEXT[:101]


def test_a_frame_of_zstandard_need_not_say_its_size():
    packer = zstandard.ZstdCompressor().compressobj()
    assert unpacked(packer.compress(TEXT) + packer.flush(), ".zst", len(TEXT)) == TEXT


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_damaged_file_is_refused(ending):
    packed = COMPRESS[ending](TEXT)
    for damaged in (packed[:-5], packed[:50], b"none at all " * 10):
        with pytest.raises(DAMAGED):
            unpacked(damaged, ending, len(TEXT))
