from toporank.app.api import dockq as dockq
from toporank.app.api import embed as embed
from toporank.app.api import features as features
from toporank.app.api import graphs as graphs
from toporank.app.api import interfaces as interfaces
from toporank.app.api import score as score
from toporank.app.api import train as train
from toporank.app.results import Results as Results
from toporank.scorer.scorer import Scorer as Scorer

__version__: str
