"""The lifecycle cases at their full counts."""

from lifecycle_test import assert_clean, lc02, run_scenario


def test_el04_ranks_finish_in_random_order_100_times():
    assert_clean(run_scenario("el04_random_order", 5, trials=100), limit_s=5)


def test_lc08_500_times():
    assert_clean(run_scenario("lc08_send_first", 2, trials=500), limit_s=5)


def test_lc02_500_groups_leak_nothing(pair):
    pair.run(lc02, times=500, limit_s=500)
