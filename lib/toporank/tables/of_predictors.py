"""The confidence of predictors: columns of confidence.csv; other tables share some."""

from __future__ import annotations

from toporank.tables.declared import MORE, SENT, SHOWN, Column, Table

TARGET = Column("target", str, "the complex", "complex", page=SHOWN)
DECOY = Column("decoy", str, "name of the model", "model", page=SHOWN)
PREDICTOR = Column("predictor", str, "whose files lie beside the model")
PREDICTOR_ORDER = Column(
    "predictor_order",
    str,
    "what its rank rests on: `own score`, `name`, or `confidence` where it says neither",
    page=SENT,
)
IPTM = Column("iptm", float, "ipTM as the predictor states it", "ipTM", page=SHOWN)
INTERFACE_PLDDT = Column(
    "interface_plddt",
    float,
    "mean pLDDT of residues with a CA within 10 Å of another partner's",
    "interface pLDDT",
    0,
    SHOWN,
)
PDOCKQ2 = Column(
    "pdockq2", float, "pDockQ2 (Zhu 2023), mean over interfaces", "pDockQ2", page=MORE
)
IPSAE = Column(
    "ipsae",
    float,
    "ipSAE (Dunbrack 2025) with a PAE limit of 10 Å, mean over interfaces",
    "ipSAE",
    page=MORE,
)

CONFIDENCE = Table(
    "confidence.csv",
    "model: the confidence of its predictor in it",
    (
        TARGET,
        DECOY,
        PREDICTOR,
        Column("plddt_source", str, "`file` or `b_factor`"),
        Column(
            "iptm_of",
            str,
            "`all_chains` if `iptm` covers more than the partners; then `interface_iptm` is the "
            "one between them, where known",
        ),
        Column("plddt", float, "mean pLDDT of all residues, 0 to 100", "pLDDT", 0),
        INTERFACE_PLDDT,
        Column(
            "contact_plddt",
            float,
            "mean pLDDT of residues with a CB within 8 Å of another partner's CB",
            "contact pLDDT",
            0,
        ),
        Column("low_plddt", float, "share of interface residues with a pLDDT below 70"),
        Column("ptm", float, "pTM as the predictor states it", "pTM", page=MORE),
        IPTM,
        Column("interface_iptm", float, "ipTM between the partners"),
        Column(
            "ranking_score",
            float,
            "what the predictor ranks its models by",
            "ranking score",
            page=MORE,
        ),
        Column(
            "interface_pae",
            float,
            "mean PAE in Å of residue pairs with CA atoms within 10 Å",
            "interface PAE",
            1,
            MORE,
        ),
        Column("pdockq", float, "pDockQ (Bryant 2022), mean over interfaces", "pDockQ"),
        PDOCKQ2,
        IPSAE,
        Column(
            "lis",
            float,
            "mean of (12 Å − PAE) / 12 Å over pairs with PAE below 12 Å (Kim 2024)",
            "LIS",
        ),
        Column(
            "haddock_score",
            float,
            "HADDOCK's score; lower is better",
            "HADDOCK score",
            1,
            SHOWN,
        ),
        Column("haddock_vdw", float, "its van der Waals energy"),
        Column("haddock_elec", float, "its electrostatic energy"),
        Column("haddock_desolv", float, "its desolvation energy"),
        Column("haddock_air", float, "its restraint energy"),
        Column("haddock_bsa", float, "its buried surface, Å²"),
        Column(
            "status",
            str,
            "`ok`, `incomplete` (a file could not be used, and why) or `none`",
        ),
        Column("reason", str, "why, in words"),
    ),
    always=("target", "decoy", "predictor", "status", "reason"),
    decimals=None,
)
OF_PREDICTOR = ("ranking_score", "haddock_score")
"""What a predictor ranks its own models by; these cannot be compared between predictors."""
LOWER_IS_BETTER = ("interface_pae", "haddock_score")
