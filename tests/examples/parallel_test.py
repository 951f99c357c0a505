"""The examples of parallel training on this machine: each compares itself with one process."""

import pytest
from examples_support import EXAMPLES, run_ranks

# script, sites, ranks per site, lines that rank 0 must print
CASES = [
    ("04_hsdp/hsdp.py", 2, 2, 1),
    ("04_hsdp/hsdp.py", 3, 2, 1),
    ("06_pipeline/pipeline.py", 2, 1, 1),
    ("07_zero_optimizer/zero_optimizer.py", 3, 1, 1),
]


def assert_good(results, comparisons):
    text = "".join(output for _, output in results)
    assert all(status == 0 for status, _ in results), text
    assert results[0][1].count("equals one process's") == comparisons and "DIFFERS" not in text, text


@pytest.mark.parametrize(("script", "sites", "ranks_per_site", "comparisons"), CASES)
def test_equals_one_process(script, sites, ranks_per_site, comparisons):
    assert_good(run_ranks(EXAMPLES / script, [], sites, ranks_per_site), comparisons)
