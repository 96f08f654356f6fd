"""RFdiffusion and RoseTTAFold."""

from __future__ import annotations

from toporank.programs.program import Program

RFDIFFUSION = Program(
    name="RFdiffusion",
    called="rosettafold|rf",
    trajectory=r".+_(?:pX0|Xt-1)_traj",
)
