"""What all feature modules take: the atoms and residues of one complex."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from toporank.chains.chain import Chain, ResidueId, chains_by_name
from toporank.chains.partners import Partners
from toporank.errors import ChainMissingError

STANDARD = {
    "ALA": "A",
    "CYS": "C",
    "ASP": "D",
    "GLU": "E",
    "PHE": "F",
    "GLY": "G",
    "HIS": "H",
    "ILE": "I",
    "LYS": "K",
    "LEU": "L",
    "MET": "M",
    "ASN": "N",
    "PRO": "P",
    "GLN": "Q",
    "ARG": "R",
    "SER": "S",
    "THR": "T",
    "VAL": "V",
    "TRP": "W",
    "TYR": "Y",
}
"""The 20 standard amino acids: three-letter code to one-letter code."""


@dataclass(frozen=True)
class Complex:
    """One model of one structure file. Coordinates in Å.

    Attributes
    ----------
    residues : all residues in file order, hetero groups and water included; length R
    names : residue names as in the file; length R
    parents : the standard residue a protein residue counts as (`MSE` → `MET`), `UNK` where there is
        none, and `""` for what is not protein; length R
    xyz : coordinates in Å, float64, shape (A, 3)
    atom_names : bytes, shape (A,)
    residue_of : int, shape (A,), the index of each atom's residue, in rising order
    ca : int, shape (R,), the index of each protein residue's CA atom, -1 where there is none
    hetero : indices of the residues that the file writes as HETATM
    notes : what the reader decided on the user's behalf, one sentence each
    labels : of an mmCIF file, the label_asym_id and label_seq_id of each residue, "" and None where
        it has none; empty for a PDB file, which knows the author's numbers only
    partners : which chains are one body; empty when each protein chain is one
    molecules : chains that got a name of their own, and what the file calls them
    side_chains : the note that says which chains have none; empty where all have some
    on_molecules : the notes that say which chains are several molecules, or may be
    written : protein chains and their letters, where the file has residues whose place is not known

    Examples
    --------
    >>> from toporank.layout import repository
    >>> example = repository() / "resources/example"
    >>> from toporank.structures.read import read_complex
    >>> complex_ = read_complex(example / "decoys/1PPE/near1.pdb.gz")
    >>> complex_.names[0], complex_.xyz[complex_.ca[0]].round(1).tolist()
    ('ARG', [-0.5, 17.4, 10.5])
    >>> len(complex_.residues), len(complex_.atom_names)
    (252, 1851)
    """

    residues: tuple[ResidueId, ...]
    names: tuple[str, ...]
    parents: tuple[str, ...]
    xyz: np.ndarray
    atom_names: np.ndarray
    residue_of: np.ndarray
    ca: np.ndarray
    hetero: frozenset[int] = frozenset()
    notes: tuple[str, ...] = field(default=())
    labels: tuple[tuple[str, int | None], ...] = ()
    partners: Partners = ()
    molecules: tuple[tuple[str, str], ...] = ()
    side_chains: str = ""
    on_molecules: tuple[str, ...] = ()
    written: tuple[tuple[str, str], ...] = ()

    @property
    def is_protein(self) -> np.ndarray:
        """bool, shape (R,)."""
        return np.array(self.parents, dtype=str) != ""

    @cached_property
    def letters(self) -> str:
        """One-letter code of each residue as its parent, `X` for others; length R."""
        return "".join(STANDARD.get(parent, "X") for parent in self.parents)

    @property
    def is_modified(self) -> np.ndarray:
        """Which protein residues are none of the 20 by name, bool, shape (R,).

        They count as their parents.
        """
        return self.is_protein & ~np.isin(self.names, list(STANDARD))

    @property
    def elements(self) -> np.ndarray:
        """First letter of each atom name as bytes, shape (A,).

        For every heavy atom of a protein that is the element.
        """
        return self.atom_names.astype("S1")

    @property
    def is_hydrogen(self) -> np.ndarray:
        """bool, shape (A,): atoms whose name begins with H or D behind any digits."""
        letters = self.atom_names.view(np.uint8).reshape(len(self.atom_names), -1)
        first = ((letters < ord("0")) | (letters > ord("9"))).argmax(axis=1)
        return np.isin(letters[np.arange(len(letters)), first], list(b"HD"))

    def without_hydrogens(self) -> Complex:
        """The complex with its heavy atoms only; the same residues."""
        is_heavy = ~self.is_hydrogen
        if is_heavy.all():
            return self
        # The last one is for residues without CA.
        new_index = np.append(np.cumsum(is_heavy) - 1, -1)
        return replace(
            self,
            xyz=self.xyz[is_heavy],
            atom_names=self.atom_names[is_heavy],
            residue_of=self.residue_of[is_heavy],
            ca=new_index[self.ca],
        )

    @cached_property
    def chain_of(self) -> np.ndarray:
        """Name of the chain of each residue, shape (R,)."""
        return np.array([residue.chain for residue in self.residues], dtype=str)

    @cached_property
    def numbers(self) -> np.ndarray:
        """Number of each residue; int, shape (R,)."""
        return np.array([residue.number for residue in self.residues], dtype=int)

    @property
    def chains(self) -> list[str]:
        """Names of the chains that hold protein, sorted."""
        return sorted(set(self.chain_of[self.is_protein].tolist()))

    @cached_property
    def protein_chains(self) -> dict[str, Chain]:
        """The protein chains by name, in the order of the file.

        A residue of hydrogens alone is not part of a chain.
        """
        has_atoms = np.diff(self.without_hydrogens().atom_slices) > 0
        residues = np.flatnonzero(self.is_protein & has_atoms)
        ca = self.ca[residues]
        return chains_by_name(
            self.residues_at(residues),
            [self.letters[r] for r in residues.tolist()],
            np.where(ca[:, None] >= 0, self.xyz[ca], np.nan),
            residues,
        )

    @property
    def sequences(self) -> dict[str, str]:
        """One-letter codes of the residues of each protein chain, in order of name.

        Those whose place is not known are among them.
        """
        if self.written:
            return dict(sorted(self.written))
        letters: dict[str, list[str]] = {}
        for r in np.flatnonzero(self.is_protein).tolist():
            letters.setdefault(self.residues[r].chain, []).append(self.letters[r])
        return {name: "".join(letters[name]) for name in sorted(letters)}

    @cached_property
    def bodies(self) -> Partners:
        """The partners, or every protein chain as one."""
        return self.partners or tuple((chain,) for chain in self.chains)

    @cached_property
    def body_of(self) -> np.ndarray:
        """int, shape (R,): the place in `bodies` of each residue's chain.

        -1 where it belongs to none of them.
        """
        body_of_chain = {}
        for body, chains in enumerate(self.bodies):
            body_of_chain.update(dict.fromkeys(chains, body))
        bodies = [body_of_chain.get(residue.chain, -1) for residue in self.residues]
        return np.array(bodies, dtype=int)

    def with_partners(self, partners: Partners) -> Complex:
        """The complex with these partners; without them where they only say that each chain is one.

        Raises
        ------
        ChainMissingError : it does not have a chain that they name
        """
        partners = self.with_molecules(partners)
        if not partners:
            return replace(self, partners=()) if self.partners else self
        chains = self.chains
        named = set().union(*partners)
        missing = sorted(named.difference(chains))
        if missing:
            joinable = [name for name in missing if set(name) <= set(chains)]
            remedy = (
                f"join chains by +, such as {'+'.join(joinable[0])}"
                if joinable
                else None
            )
            available = "; ".join([", ".join(chains) or "none", *self.notes])
            raise ChainMissingError(
                f"no protein chain {' and no '.join(map(repr, missing))}, only {available}",
                facts={"n_chains": len(chains)},
                remedy=remedy,
            )
        left_out = sorted(set(chains) - named)
        if not left_out and len(partners) == len(chains):
            return self.with_partners(())
        notes = list(self.notes)
        if left_out:
            notes.append(
                f"no partner names chain {', '.join(left_out)}: left out of the interface"
            )
        return replace(self, partners=partners, notes=tuple(notes))

    def with_molecules(self, partners: Partners) -> Partners:
        """Partners with all molecules of the chains that they name, but for those of another one.

        A name of the file means everything that the file calls so.
        """
        named = set().union(*partners)
        whole = []
        for partner in partners:
            further = [
                name
                for name, of_file in self.molecules
                if of_file in partner and name not in named
            ]
            whole.append(tuple(sorted([*partner, *further])))
        return tuple(whole)

    def only(self, residues: np.ndarray) -> Complex:
        """The complex with these residues, int, shape (n,), in rising order."""
        starts = self.atom_slices
        sizes = np.diff(starts)[residues]
        new_starts = np.cumsum(sizes) - sizes
        atoms = np.repeat(starts[residues] - new_starts, sizes) + np.arange(sizes.sum())
        ca = self.ca[residues]

        def some(values: tuple) -> tuple:
            return tuple(values[r] for r in residues.tolist())

        return replace(
            self,
            residues=some(self.residues),
            names=some(self.names),
            parents=some(self.parents),
            xyz=self.xyz[atoms],
            atom_names=self.atom_names[atoms],
            residue_of=np.repeat(np.arange(len(residues)), sizes),
            ca=np.where(ca >= 0, ca - starts[residues] + new_starts, -1),
            hetero=frozenset(
                np.flatnonzero(np.isin(residues, list(self.hetero))).tolist()
            ),
            labels=some(self.labels) if self.labels else (),
            written=(),
        )

    @cached_property
    def atom_slices(self) -> np.ndarray:
        """int, shape (R + 1,).

        The atoms of residue r are `atom_slices[r]` to `atom_slices[r + 1]`.
        """
        return np.searchsorted(self.residue_of, np.arange(len(self.residues) + 1))

    def atoms_named(self, *names: bytes) -> np.ndarray:
        """int, shape (R, len(names)): the atom of each name in each residue.

        -1 where there is none.
        """
        atoms = np.full((len(self.residues), len(names)), -1)
        for column, name in enumerate(names):
            named = np.flatnonzero(self.atom_names == name)
            atoms[self.residue_of[named], column] = named
        return atoms

    def residues_at(self, places: np.ndarray) -> list[ResidueId]:
        """The identities of some residues; places : int, shape (n,)."""
        return [self.residues[place] for place in places.tolist()]

    def index(self) -> dict[ResidueId, int]:
        """Residue index by identity.

        Where, say, a ligand has the same identity, the residue with a CA counts.
        """
        index = {residue: i for i, residue in enumerate(self.residues)}
        for i in np.flatnonzero(self.ca >= 0).tolist():
            index[self.residues[i]] = i
        return index

    def index_of_names(self) -> dict[str, int]:
        """Residue index by the name of its identity, such as `A:52A`."""
        return {str(residue): i for residue, i in self.index().items()}
