"""Every column of the tables of a scored folder, and what it means.

A new column is a line here, and its value where the table is made: files, Python, page and
documentation have it from here.
"""

from __future__ import annotations

from dataclasses import replace

from toporank.tables.declared import (
    FILE,
    MORE,
    PERCENT,
    SENT,
    SHOWN,
    WHOLE,
    Column,
    Table,
)
from toporank.tables.of_predictors import (
    CONFIDENCE,
    DECOY,
    INTERFACE_PLDDT,
    IPSAE,
    IPTM,
    PDOCKQ2,
    PREDICTOR,
    PREDICTOR_ORDER,
    TARGET,
)

DOCKQ = Column(
    "dockq", float, "expected DockQ: 0 is wrong, 1 identical", "DockQ", page=SHOWN
)
INTERVAL = (
    Column("dockq_low", float, "in 80 % of cases DockQ is higher", page=SENT),
    Column("dockq_high", float, "in 80 % of cases DockQ is lower", page=SENT),
)
P_ACCEPTABLE = Column(
    "p_acceptable",
    float,
    "probability that DockQ is 0.23 or more",
    "acceptable",
    PERCENT,
    SHOWN,
)
CAPRI = Column(
    "capri", str, "CAPRI class of the expected DockQ", "CAPRI class", page=MORE
)
VERDICT = Column("verdict", str, "*believe*, *check* or *do not believe*", page=SHOWN)
VERDICT_REASON = Column(
    "verdict_reason", str, "why it is not what the probability says", page=SENT
)
WEAKEST = Column(
    "weakest_interface",
    str,
    "of several main interfaces the one with the lowest DockQ; of equal ones, by `dockq_alone`",
    "weakest interface",
    page=MORE,
)
CONSENSUS = Column(
    "consensus",
    float,
    "mean similarity to the other models of the target, 0 to 1",
    page=MORE,
)
N_RESIDUES = Column(
    "n_interface_residues",
    WHOLE,
    "residues with a CA within 10 Å of a CA of another partner, in all interfaces",
    "interface residues",
    page=SHOWN,
)
STATUS = Column("status", str, "outcome of the model (docs/inputs.md)", page=SENT)
REASON = Column("reason", str, "why, in words", "notes", page=SENT)
NETWORK_SD = Column(
    "network_sd",
    float,
    "spread between the networks; no error bar",
    "spread of networks",
    page=MORE,
)

MODELS = Table(
    "models.csv",
    "model, best first in its target; copies share a rank",
    (
        TARGET,
        DECOY,
        Column("rank", WHOLE, "place among the models of its target", page=SHOWN),
        DOCKQ,
        *INTERVAL,
        P_ACCEPTABLE,
        CAPRI,
        VERDICT,
        VERDICT_REASON,
        PREDICTOR.on_page(SENT),
        Column(
            "predictor_rank",
            WHOLE,
            "place among the models of its predictor, as that ranks them",
            "predictor's rank",
            page=SHOWN,
        ),
        Column(
            "predictor_score",
            float,
            "what the predictor ranks them by; see `predictor_measure`",
            "predictor's score",
            page=SHOWN,
        ),
        Column(
            "predictor_measure",
            str,
            "which number `predictor_score` is, such as ranking score or ipTM",
            page=SENT,
        ),
        PREDICTOR_ORDER,
        WEAKEST,
        Column(
            "weak_partners",
            str,
            "partners that touch nothing or little, or look wrong",
            page=SENT,
        ),
        STATUS,
        REASON,
        Column("duplicate_of", str, "the model that it is a copy of", page=SENT),
        Column("path", FILE, "its file, from the folder of this table"),
    ),
)
DETAILS = Table(
    "details.csv",
    "model: what the numbers are made of",
    (
        TARGET,
        DECOY,
        Column(
            "score",
            float,
            "the score that decides the order, before calibration",
            page=SENT,
        ),
        NETWORK_SD,
        Column(
            "network",
            float,
            "DockQ that the networks predict from this model alone",
            "by the networks",
            page=MORE,
        ),
        Column(
            "confidence",
            float,
            "DockQ that the predictor's confidence suggests",
            "from confidence",
            page=MORE,
        ),
        Column("kind", str, "of complex, such as protein and peptide"),
        Column("unknown_kind", str, "the same where training lacks it"),
        Column(
            "out_of_domain",
            str,
            "why the model is unlike those of the training; empty if it is not",
            page=SENT,
        ),
        CONSENSUS,
        Column("cluster", WHOLE, "its cluster; 1 is the largest", page=MORE),
        Column("cluster_rank", WHOLE, "rank of the cluster"),
        Column(
            "twin_of",
            str,
            "an earlier model with nearly the same interface",
            "nearly the same as",
            page=MORE,
        ),
        Column("n_chains", WHOLE, "chains"),
        Column("n_interfaces", WHOLE, "pairs of partners that touch"),
        N_RESIDUES.on_page(MORE),
        Column(
            "min_interface",
            float,
            "lowest DockQ of its main interfaces",
            page=SENT,
        ),
        Column("mean_interface", float, "mean DockQ of its main interfaces", page=SENT),
        Column("stage", str, "where it failed, or the last stage"),
        Column("chains", str, "its chains by the names of the target"),
        Column("model", WHOLE, "its number in the file, from 1; 0 for the only one"),
    ),
    always=("target", "decoy"),
)
TARGETS = Table(
    "targets.csv",
    "target, the most promising first, with its best model",
    (
        TARGET,
        Column(
            "new",
            str,
            "`yes`: computed by this run, while others are of an earlier one",
            page=SHOWN,
        ),
        VERDICT,
        DOCKQ,
        *INTERVAL,
        P_ACCEPTABLE,
        Column("best", str, "the best model", "best model", page=SHOWN),
        Column("file", FILE, "its file, from the folder of this table"),
        Column("n_models", WHOLE, "models, without copies", "models", page=SHOWN),
        Column("n_scored", WHOLE, "models with a score", page=SENT),
        Column(
            "predictors",
            str,
            "programs that made the models",
            "predictor",
            page=MORE,
        ),
        Column(
            "predictor_rank",
            WHOLE,
            "place of the best model among those of its predictor, as that ranks them",
            "predictor's rank",
            page=SHOWN,
        ),
        Column(
            "predictor_score",
            float,
            "what the predictor ranks it by: its ranking score, ipTM …",
            "predictor's score",
            page=MORE,
        ),
        PREDICTOR_ORDER,
        Column(
            "predictor_first",
            str,
            "the model that its predictor ranks first, where that is another one",
            "predictor's first",
            page=MORE,
        ),
        Column(
            "predictor_first_dockq",
            float,
            "expected DockQ of that model",
            "DockQ of the predictor's first",
            page=MORE,
        ),
        Column(
            "dockq_between",
            float,
            "DockQ between that model and the best one: do they bind alike?",
            "DockQ between the two",
            page=MORE,
        ),
        Column(
            "p_interact",
            float,
            "probability that the partners interact, if half of the pairs do",
            "interact",
            PERCENT,
            SHOWN,
        ),
        IPTM,
        INTERFACE_PLDDT.on_page(MORE),
        IPSAE,
        PDOCKQ2,
        CONSENSUS,
        CAPRI,
        Column("partners", str, "of the best model, by its file", page=MORE),
        Column(
            "interfaces",
            str,
            "which of the best model are good and which doubtful, where it has several",
            page=SENT,
        ),
        WEAKEST,
        N_RESIDUES,
        Column(
            "seen_in_training",
            str,
            "`yes`, `no` or `unknown`",
            "seen in training",
            page=MORE,
        ),
        Column("nearest_training_target", str, "with the chain most like one of it"),
        Column(
            "containment",
            float,
            "share of the 5-mers of the smaller chain that are in the other, 0 to 1",
        ),
        Column("why_seen", str, "why it counts as seen, new or unknown", page=SENT),
        Column("caveats", str, "what changes what one does", "caveat", page=SHOWN),
        Column("hint", str, "which chains may be one partner", page=SENT),
        Column("notes", str, "what TopoRank decided, and what has no score", page=MORE),
    ),
    decimals=3,
)
INTERFACES = Table(
    "interfaces.csv",
    "interface of each model",
    (
        TARGET,
        DECOY,
        Column("interface", str, "both partners by the chains of the target, `A:H+L`"),
        Column(
            "n_residues",
            WHOLE,
            "residues with a CA within 10 Å of a CA of the other partner",
            "residues",
            page=SHOWN,
        ),
        Column("n_ca_pairs", WHOLE, "pairs of residues within 10 Å (CA)"),
        Column("closest", float, "Å between the nearest CA atoms"),
        replace(
            DOCKQ,
            meaning="expected DockQ of the interface; two are equal where a third partner raises "
            "one: partners that lie right to a third lie right to each other",
        ),
        NETWORK_SD,
        replace(
            STATUS,
            meaning="`ok`, `apart` (no contact), `absent` (a partner is missing), `failed`, or "
            "that of the model",
        ),
        Column(
            "chains",
            str,
            "the partners as the file of the model calls them",
            "pair",
            page=SHOWN,
        ),
        Column(
            "role",
            str,
            "`main`, `side contact` (few contacts of partners that have others) or `beside the "
            "antibody`: DockQ of the model is about the main ones",
        ),
        Column(
            "n_contacts",
            WHOLE,
            "pairs of residues with heavy atoms within 5 Å",
            "contacts",
            page=SHOWN,
        ),
        Column(
            "looks",
            str,
            "`right` (DockQ from 0.49; doubtful with few good contacts if a third partner raises "
            "it), `doubtful` (from 0.23) or `wrong`; its role if not main",
            page=SHOWN,
        ),
        Column(
            "pair_iptm",
            float,
            "the predictor's ipTM of the pair (its best chains), in models with several interfaces",
            "ipTM",
            page=SHOWN,
        ),
        Column(
            "pair_pae",
            float,
            "the predictor's PAE in Å, mean of its contacts both ways, if several interfaces touch",
            "PAE, Å",
            1,
            SHOWN,
        ),
        Column("dockq_alone", float, "expected DockQ before a third partner raised it"),
        Column("good_contacts", WHOLE, "contacts with a quality of 0.5 or more"),
    ),
)
QUALITY = (
    Column(
        "pred_quality",
        float,
        "probability that the residue keeps half of its native contacts, or that the native has "
        "this contact",
    ),
    Column(
        "pred_network",
        float,
        "local quality that the networks predict: the share of 0.5, 1, 2 and 4 Å within which the "
        "CA distance equals that of the native",
    ),
    Column(
        "agreement",
        float,
        "share of the other models that have the contact, weighted by the square of their DockQ; "
        "empty for a single model",
    ),
)
RESIDUES = Table(
    "residues.csv",
    "interface residue of each scored model: probability that it is right",
    (
        TARGET,
        DECOY,
        Column("chain", str, "its chain"),
        Column("residue", str, "its number with insertion code, such as `52A`"),
        *QUALITY,
        Column("residue_name", str, "amino acid that it counts as, `MET` for `MSE`"),
    ),
    decimals=4,
)
CONTACTS = Table(
    "contacts.csv",
    "contact of each scored model: probability that it is right",
    (
        TARGET,
        DECOY,
        Column("chain_1", str, "chain of the first residue"),
        Column("residue_1", str, "its number with insertion code"),
        Column("residue_name_1", str, "its amino acid"),
        Column("chain_2", str, "chain of the second residue"),
        Column("residue_2", str, "its number with insertion code"),
        Column("residue_name_2", str, "its amino acid"),
        Column("distance", float, "Å between their nearest heavy atoms"),
        Column(
            "type",
            str,
            "`salt bridge` (N of Lys, Arg to carboxylate O, < 4 Å), `hydrogen bond` (N to O, "
            "< 3.5 Å), `apolar` (C or S, < 4.5 Å) or `other`",
        ),
        *QUALITY,
    ),
    decimals=4,
)
CHAINS = Table(
    "chains.csv",
    "sequence of each target",
    (
        TARGET,
        Column("decoy", str, "the model that it was read from"),
        Column("structure_sha256", str, "SHA-256 of its file"),
        Column("chains", str, "the chains that have it, with blanks between"),
        Column("kind", str, "`protein`, `peptide`, `antibody` or `unknown`"),
        Column("sequence", str, "letters of amino acids, X for others"),
    ),
)
EMBEDDINGS = Table(
    "embeddings.csv",
    "scored model: the vector that the network sees; the page has a map of them",
    (TARGET, DECOY),
)
TABLES = (
    MODELS,
    TARGETS,
    DETAILS,
    INTERFACES,
    RESIDUES,
    CONTACTS,
    CONFIDENCE,
    EMBEDDINGS,
    CHAINS,
)
