"""Structures that a program holds in memory.

They are those of Biopython, biotite and gemmi, which it recognises by their modules.

Each library writes its structure as mmCIF, which the reader reads like any file, with the same
checks. TopoRank imports none of these libraries before somebody gives it a structure of theirs.
"""

from __future__ import annotations

import importlib
import io
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from toporank.errors import ConfigError
from toporank.files.printable_names import free_name, table_name
from toporank.structures.complex import Complex
from toporank.structures.read import StructureFile, read_complex
from toporank.structures.write import mmcif

LIBRARIES = ("Bio.PDB", "biotite.structure", "gemmi")
"""Modules whose objects are taken for structures."""


def is_structure(value: object) -> bool:
    """Whether a value is a structure in memory.

    It is a `Complex`, or one of Biopython, biotite or gemmi.
    """
    module = type(value).__module__
    return isinstance(value, Complex) or any(
        module == name or module.startswith(f"{name}.") for name in LIBRARIES
    )


def complex_of(source: str | os.PathLike[str] | object) -> Complex:
    """Read a structure file, or a structure in memory.

    Parameters
    ----------
    source : path of a PDB or mmCIF file; a `Complex`; Biopython's `Structure`, `Model` or `Chain`;
        biotite's `AtomArray` or `AtomArrayStack`; or gemmi's `Structure`. Of several models the
        first counts

    Returns
    -------
    Complex

    Raises
    ------
    StructureError : it cannot be read as a complex
    ConfigError : it is something else

    Examples
    --------
    >>> from toporank.layout import repository
    >>> example = repository() / "resources/example"
    >>> import gemmi
    >>> path = example / "decoys/1PPE/near1.pdb.gz"
    >>> complex_of(gemmi.read_structure(str(path))).chains
    ['A', 'B']
    """
    if isinstance(source, Complex):
        return source
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        if path.is_dir():
            raise ConfigError(
                "a folder, not a structure file",
                where=path,
                remedy="give its files; `toporank.score` takes a folder",
            )
        return read_complex(path)
    return StructureFile(
        Path(f"{name_of(source)}.cif"), mmcif_of(source).encode()
    ).complex()


def mmcif_of(structure: Any) -> str:
    """Write a structure in memory as mmCIF. Raises ConfigError where it is not one."""
    if isinstance(structure, Complex):
        return mmcif(structure, np.zeros(len(structure.residues)))
    module = type(structure).__module__
    if not is_structure(structure) or type(structure).__name__ == "Atom":
        raise ConfigError(
            f"not a structure: {module}.{type(structure).__name__}",
            remedy="give a path, or a structure of Biopython, biotite or gemmi",
        )
    text = io.StringIO()
    if module.startswith("gemmi"):
        return structure.make_mmcif_document().as_string()
    if module.startswith("Bio.PDB"):
        from Bio.PDB.mmcifio import MMCIFIO

        writer = MMCIFIO()
        writer.set_structure(structure)
        writer.save(text)
    else:
        # Not a dependency: whoever gives an AtomArray has it.
        pdbx = importlib.import_module("biotite.structure.io.pdbx")
        file = pdbx.CIFFile()
        pdbx.set_structure(file, structure, data_block="structure")
        file.write(text)
    return text.getvalue()


def name_of(structure: object) -> str:
    """What a structure in memory calls itself; `structure` where it has no name."""
    for attribute in ("id", "name"):  # of Biopython and of gemmi
        name = getattr(structure, attribute, None)
        if isinstance(name, str) and name.strip():
            return table_name(name.strip().replace("/", "_"))
    return "structure"


def write_structures(
    structures: Mapping[str, Any] | Sequence[Any] | Any, folder: Path
) -> None:
    """Write structures in memory into a folder, one mmCIF file each.

    Parameters
    ----------
    structures : one, several, or several by name; where names are equal, the second gets a number
    folder : made if it is missing
    """
    if is_structure(structures):
        structures = [structures]
    if not isinstance(structures, Mapping):
        by_name: dict[str, Any] = {}
        for structure in structures:
            by_name[free_name(name_of(structure), by_name)] = structure
        structures = by_name
    folder.mkdir(parents=True, exist_ok=True)
    for name, structure in structures.items():
        (folder / f"{table_name(name)}.cif").write_text(
            mmcif_of(structure), encoding="utf-8"
        )
