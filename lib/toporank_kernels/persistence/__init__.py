"""Exact persistent homology of small 3-D point clouds, compiled with numba.

H0 of the Vietoris–Rips filtration: its finite death times are the edge lengths of a Euclidean
minimum spanning tree. H1 of the alpha complex: birth and death are squared radii, as GUDHI gives
them.

`delaunay` triangulates a cloud, `alpha` gives every simplex its value, `pairing` finds the bars;
`double` is their arithmetic with twice the digits. `clouds` works out one cloud, `summary` the
statistics of many.

Nothing is guessed: every sign that shapes the result is compared with a bound on its rounding error
and worked out with twice the digits where that fails. A cloud that is still in doubt is reported
and left to exact arithmetic elsewhere. Importing this package imports numba, which is slow: import
it only to compute.
"""

from toporank_kernels.persistence.clouds import LARGEST
from toporank_kernels.persistence.summary import describe_clouds, members_of_balls

__all__ = ["LARGEST", "describe_clouds", "members_of_balls"]
