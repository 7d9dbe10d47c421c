"""The budget of tracing, with made-up times: what it may cost in the long run, and how early it begins."""

import unittest

import profile_support  # noqa: F401  (puts the hook on the path)
from _fullbore_hook.lines.budget import Budget

MS = 1_000_000


def run(budget, units, wall_ns, cost_ns):
    """Numbers of the units that were traced, when tracing one costs `cost_ns`."""
    traced = []
    for unit in range(1, units + 1):
        wanted = budget.next_unit()
        if wanted:
            traced.append(unit)
        budget.end_unit(wall_ns, cost_ns if wanted else 0)
    return traced


class BudgetTest(unittest.TestCase):
    def test_the_first_burst_comes_at_once(self):
        budget = Budget(0.002, 8000, burst=2, first=3, most_debt_ns=50 * MS, opening_ns=0)
        self.assertEqual(run(budget, 20, 30 * MS, 2 * MS), [3, 4])

    def test_an_opening_credit_buys_bursts_at_a_distance(self):
        budget = Budget(0.01, 2500, burst=8, first=4, most_debt_ns=20 * MS, opening_ns=50 * MS)
        traced = run(budget, 20 * 64, 3 * MS, 1 * MS)
        self.assertTrue(48 <= len(traced) <= 64, traced)
        batches = {unit // 64 for unit in traced}
        self.assertGreaterEqual(len(batches), 5)
        self.assertEqual(run(budget, 1000, 3 * MS, 1 * MS), [])

    def test_in_the_long_run_the_share_is_kept(self):
        budget = Budget(0.01, 10 * MS, burst=16, first=2, most_debt_ns=20 * MS, opening_ns=0)
        traced = run(budget, 20000, 5 * MS, 200_000)
        self.assertGreater(len(traced), 2000)
        self.assertLessEqual(len(traced) * 200_000, 0.0102 * 20000 * 5 * MS)

    def test_long_units_are_held_to_the_cap(self):
        budget = Budget(0.002, 8000, burst=2, first=3, most_debt_ns=50 * MS, opening_ns=0)
        traced = run(budget, 50000, 1000 * MS, 2 * MS)
        self.assertLessEqual(len(traced) * 2 * MS, 50000 * 8000 + 8 * MS)

    def test_tracing_that_costs_less_than_its_budget_never_stops(self):
        budget = Budget(0.01, 10 * MS, burst=16, first=2, most_debt_ns=20 * MS, opening_ns=0)
        self.assertEqual(len(run(budget, 1000, 5 * MS, 20_000)), 999)

    def test_a_burst_ends_early_when_it_is_dear(self):
        budget = Budget(0.01, 10 * MS, burst=16, first=2, most_debt_ns=20 * MS, opening_ns=0)
        self.assertEqual(run(budget, 100, 5 * MS, 15 * MS), [2, 3])

    def test_bursts_do_not_keep_step_with_the_data(self):
        budget = Budget(0.01, 10 * MS, burst=16, first=2, most_debt_ns=20 * MS, opening_ns=0)
        traced = run(budget, 20000, 5 * MS, 200_000)
        lengths, length = set(), 1
        for before, unit in zip(traced, traced[1:]):
            if unit == before + 1:
                length += 1
            else:
                lengths.add(length)
                length = 1
        self.assertGreater(len(lengths), 1)


if __name__ == "__main__":
    unittest.main()
