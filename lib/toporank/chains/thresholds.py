"""When two chains, or two residues, are the same: every threshold, with its reason.

A question of its own needs a threshold of its own: models of one target may be of mutants, labels
compare bound with unbound structures, and training must not see a relative.
"""

from __future__ import annotations

# ---- a chain of one structure is a chain of the other: labels, consensus, drawings ---------------

SAME_CHAIN = 0.7
"""Least share of the shorter chain's residues that align as the same."""
BELOW_BEST = 0.1
"""A chain whose identity is lower than the best by more than this is a relative, not a copy."""
FRAGMENT = 0.5
"""A chain with fewer than this part of the identical residues that the best has is no copy of it,
and a chain that is less than this part in a joined chain does not lie in it.
"""
SHORTEST_PART = 5
"""Residues of the shortest chain that is looked for in a longer one."""
EXACT_BELOW = 8
"""A chain with fewer residues must be there letter by letter: a similar stretch would be found by
chance.
"""

# ---- models of one target, and screens -----------------------------------------------------------

SAME_KIND = 0.9
"""Least share of the shorter chain's residues that chains of one kind have in common: mutants, cut
ends, missing loops.
"""
KIND_COVERAGE = 0.5
"""And of the longer chain's: a domain alone is another construct."""
KIND_KMERS = 0.4
"""Share of 5-mers in common below which no alignment is tried; a tenth of the residues exchanged
leaves 0.59.
"""
LONGEST_PEPTIDE = 50
"""Residues. Peptides of one kind have the same letters, at the ends, too: whoever scans them
compares each.
"""
TAIL = 10
"""Least identical residues before and behind an exchange in chains of different length: others are
of a tag or tail, unless both chains have as many of them.
"""

# ---- leakage -------------------------------------------------------------------------------------

ALIKE = 0.4
"""Least share of the 5-mers of the chain with fewer that chains of two targets have in common, if
one may tell a network about the other."""
FEWEST_KMERS = 16
"""Different 5-mers of a chain that is compared: those of 20 residues."""

# ---- several molecules under one name ------------------------------------------------------------

STEP = 3.8
"""Å between the CA atoms of two residues with a peptide bond."""
SLACK = 1.1
"""Of this distance in models."""
LONGEST_GAP = 100
"""Residues that a chain may lack in one place. Programs that write TER at gaps do so at shorter
ones.
"""
WELL_MATCHED = 0.9
"""Share of the residues of the smaller structure that are identical in its counterparts, from which
nobody asks whether molecules under one name stand in another order.
"""

# ---- a residue of one chain is a residue of the other --------------------------------------------

NUMBERS_AGREE = 0.9
"""Least share of the residues of the shorter chain, or of those that align, that have equal numbers
(and letters) in both; below it numbers say nothing.
"""
FEWEST_ATOMS = 3
"""Atoms that fix a superposition."""
