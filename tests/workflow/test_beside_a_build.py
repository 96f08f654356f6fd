"""What is done in a second terminal while a build runs changes nothing of the build."""

from __future__ import annotations

import pytest
from _running import jobs, standing_still, start, wait_for

from conftest import Study

pytestmark = pytest.mark.slow

OTHER_CHUNKS = "workflow={chunk_size: 1}"
OTHER_FEATURES = "features={interface: {cutoff: 9}}"


def read_by_jobs(study: Study) -> dict[str, str]:
    """What the jobs of the build go by: what it builds, its plans and labels."""
    records = [*study.results.glob("mini/plan/*"), study.results / "mini/labels.csv"]
    return {path.name: path.read_text() for path in records}


def test_a_running_build_goes_by_what_it_began_with(fresh, few_built):
    """A job stands still until all is done beside it, so that the build is in its middle."""
    build = start(fresh)
    wait_for(lambda: jobs(fresh))
    with standing_still(jobs(fresh)[:1]):
        began_with = read_by_jobs(fresh)
        for settings in (OTHER_CHUNKS, OTHER_FEATURES):
            assert (
                "job stats"
                in fresh.run("build_graphs", "-n", "--config", settings).stdout.lower()
            )
        fresh.run("--lint")
        refused = fresh.run("build_graphs", "--config", OTHER_CHUNKS, check=False)
        assert refused.returncode != 0
        assert "cannot be locked" in refused.stdout
        # these two share no file with the build, so Snakemake lets them run, and at their end
        # removes all of its locks
        fresh.run("coverage", "--config", OTHER_CHUNKS)
        fresh.run("results/mini/graphs/1GCQ/near1.pt", "--config", OTHER_CHUNKS)
        refused = fresh.run("build_graphs", "--config", OTHER_CHUNKS, check=False)
        assert refused.returncode != 0
        assert "another run is working on mini (wait for its end" in refused.stdout
        assert began_with.items() <= read_by_jobs(fresh).items()
        assert build.poll() is None
    assert build.wait(300) == 0
    assert fresh.tree() == few_built.tree()
    assert "Nothing to be done" in fresh.run("build_graphs").stdout
