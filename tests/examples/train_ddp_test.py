"""01_train_ddp on Isthmus: processes of this machine that claim to be in several sites."""

import re

import pytest
from examples_support import TRAIN_DDP, expect_equal_parameters, run_ranks


@pytest.mark.parametrize(("sites", "ranks_per_site"), [(1, 3), (2, 1), (3, 2)])
def test_all_ranks_end_with_the_parameters_of_one_process(sites, ranks_per_site):
    results = run_ranks(TRAIN_DDP, ["--steps", "8", "--width", "32"], sites, ranks_per_site)
    text = "".join(output for _, output in results)
    assert [status for status, _ in results] == [0] * (sites * ranks_per_site), text
    expect_equal_parameters(text, sites * ranks_per_site)


def test_survivors_of_a_killed_rank_name_it_within_five_seconds(tmp_path):
    marker = tmp_path / "marker"
    arguments = ["--steps", "1000", "--width", "32", "--die", "3:5", "--marker", str(marker)]
    results = run_ranks(TRAIN_DDP, arguments, sites=3, ranks_per_site=2)
    assert results[3][0] == -9
    for rank in (0, 1, 2, 4, 5):
        status, text = results[rank]
        assert status == 1, text
        assert re.search(r"rank 3 \(site b", text), text
        assert float(re.search(r"(\S+) s after the marker", text)[1]) < 5, text
