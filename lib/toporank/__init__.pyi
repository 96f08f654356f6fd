from toporank.api import dockq as dockq
from toporank.api import embed as embed
from toporank.api import features as features
from toporank.api import interfaces as interfaces
from toporank.api import score as score
from toporank.scorer.scorer import Scorer as Scorer

__version__: str
