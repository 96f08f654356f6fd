"""What a sequence-design network says of a model: how much likelier the interface makes its own sequence.

ProteinMPNN (Dauparas et al. 2022, doi:10.1126/science.add2187) gives each residue a probability for every amino acid,
from the backbone around it. A right interface makes its own amino acids likelier than the partners apart do.
"""
