"""01_train_ddp on the backend that comes with torch: the example itself is right."""

from examples_support import TRAIN_DDP, expect_equal_parameters, run_ranks


def test_all_ranks_end_with_the_parameters_of_one_process():
    results = run_ranks(TRAIN_DDP, ["--backend", "gloo", "--steps", "8", "--width", "32"], sites=2, ranks_per_site=2)
    text = "".join(output for _, output in results)
    assert [status for status, _ in results] == [0] * 4, text
    expect_equal_parameters(text, 4)


def test_survivors_of_a_killed_rank_say_who_they_are_and_fail(tmp_path):
    marker = tmp_path / "marker"
    arguments = ["--backend", "gloo", "--steps", "8", "--width", "32", "--die", "1:3", "--marker", str(marker)]
    results = run_ranks(TRAIN_DDP, arguments, sites=1, ranks_per_site=3)
    assert results[1][0] == -9
    for rank in (0, 2):
        status, text = results[rank]
        assert status == 1, text
        assert f"rank {rank}: failed" in text and "after step 3" in text and "s after the marker" in text
