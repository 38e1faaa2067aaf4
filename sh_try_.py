from tests.world.virtual.syntax import parse
from tests.world.virtual.shell import *
from metabroker.clusters.gate import wrapper
from metabroker.clusters.port import ComponentRequest
import inspect
print(inspect.signature(ComponentRequest))
import importlib.resources
t=importlib.resources.files("metabroker.clusters.gate").joinpath("wrapper.sh").read_text()
for c in parse(t): print(str(c)[:150])
