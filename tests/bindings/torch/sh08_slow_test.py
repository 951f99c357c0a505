"""SH-08 at its full count."""

from cases_test import sh08


def test_sh08_200_times(pair):
    pair.run(sh08, times=200, limit_s=900)
