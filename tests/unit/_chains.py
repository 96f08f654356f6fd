"""Sequences of chains."""

from __future__ import annotations

import random

HEAVY = (
    "EVQLVESGGGLVQPGGSLRLSCAASGFNIKDTYIHWVRQAPGKGLEWVARIYPTNGYTRYADSVKGRFTISADTSKNTAYLQMNSLRAEDTAVYYC"
    "SRWGGDGFYAMDYWGQGTLVTVSS"
)
"""The heavy variable domain of an antibody."""


def chain(seed: int, length: int = 120) -> str:
    """A random sequence; two of them share no 5-mer worth mentioning."""
    return "".join(random.Random(seed).choices("ACDEFGHIKLMNPQRSTVWY", k=length))
