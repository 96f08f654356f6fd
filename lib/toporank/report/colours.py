"""The colours of structures, in the page, in figures and in other programs."""

PARTNER_COLOURS = (
    "#2b7bba",
    "#e08a1e",
    "#8d63b5",
    "#7d8a24",
    "#4aa3b8",
    "#a0694b",
    "#5b6b7a",
    "#c9a227",
)
QUALITY_COLOURS = ("#b23a6b", "#e3b7b0", "#8fc3a9", "#0b6b53")
"""Of quality from 0 to 1; no partner has one of them."""
PAE_COLOURS = ("#0b4f5c", "#3f8a80", "#a9cfae", "#f0f1da", "#ffffff")
"""Of PAE from 0 Å up."""
PLDDT_COLOURS = ((90, "#0053d6"), (70, "#65cbf3"), (50, "#ffdb13"), (0, "#ff7d45"))
"""AlphaFold's: lowest pLDDT of each colour."""
VERDICT_COLOURS = ("#0a7d5f", "#b96a00", "#b3261e")
"""Of the verdicts from good to bad."""
