"""The examples of parallel training on this machine (PG-01): each compares itself with one process."""

import pytest
from examples_support import EXAMPLES, run_ranks

# script, sites, ranks per site, lines that rank 0 must print
CASES = [
    ("02_ddp_features/ddp_features.py", 2, 2, 9),
    ("03_fsdp2/fsdp2.py", 3, 1, 3),
    ("04_hsdp/hsdp.py", 2, 2, 1),
    ("04_hsdp/hsdp.py", 3, 2, 1),
    ("05_tensor_parallel/tensor_parallel.py", 2, 2, 1),
    ("06_pipeline/pipeline.py", 2, 1, 1),
    ("07_zero_optimizer/zero_optimizer.py", 3, 1, 1),
]


def assert_good(results, comparisons):
    text = "".join(output for _, output in results)
    assert all(status == 0 for status, _ in results), text
    assert results[0][1].count("equals one process's") == comparisons and "DIFFERS" not in text, text


@pytest.mark.parametrize(("script", "sites", "ranks_per_site", "comparisons"), CASES)
def test_pg01_equals_one_process(script, sites, ranks_per_site, comparisons):
    assert_good(run_ranks(EXAMPLES / script, [], sites, ranks_per_site), comparisons)


@pytest.mark.parametrize("sites, ranks_per_site", [(1, 2), (3, 1)])
def test_pg01_checkpoint_on_another_number_of_ranks(tmp_path, sites, ranks_per_site):
    script, folder = EXAMPLES / "08_checkpoint/checkpoint.py", str(tmp_path / "checkpoint")
    assert_good(run_ranks(script, ["save", folder], 2, 2), 1)
    assert_good(run_ranks(script, ["load", folder, "--batches", "4"], sites, ranks_per_site), 2)
