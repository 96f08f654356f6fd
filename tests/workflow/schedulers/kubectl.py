"""A cluster of Kubernetes that runs each job at once, in the background, and leaves files beside
this one.
"""

import subprocess
import sys
from pathlib import Path

import yaml

here = Path(__file__).parent
if sys.argv[1] == "create":
    job = yaml.safe_load(sys.stdin)
    name = f"toporank-{len(list(here.glob('*.yaml'))) + 1}"
    (here / f"{name}.yaml").write_text(yaml.safe_dump(job))
    (container,) = job["spec"]["template"]["spec"]["containers"]
    command = " ".join(f"'{word}'" for word in container["command"])
    subprocess.Popen(
        ["bash", "-c", f"{command} > /dev/null 2>&1; echo $? > '{here / name}.status'"],
        cwd=container["workingDir"],
        start_new_session=True,
        stdout=subprocess.DEVNULL,
    )
    print(f"job.batch/{name}")
else:
    status = here / f"{sys.argv[3]}.status"
    if status.exists():
        ended_well = status.read_text() == "0\n"
        print(
            "SuccessCriteriaMet Complete" if ended_well else "FailureTarget Failed",
            end="",
        )
