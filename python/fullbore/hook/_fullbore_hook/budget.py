"""Decides when tracing may run, so that its long-run cost stays under a share of the time watched.

Pays afterwards: each unit (iteration, sample) earns an allowance, each traced unit spends what it really cost, and a
burst of consecutive units begins when the account is not in debt. The first burst is free, so lines come early.
"""


class Budget:
    """`share` of each unit's wall time, at most `cap_ns` per unit; bursts of `burst` units from unit `first` on.

    A burst ends early once `most_debt_ns` is owed.
    """

    def __init__(self, share, cap_ns, burst, first, most_debt_ns):
        self.share = share
        self.cap_ns = cap_ns
        self.burst = burst
        self.first = first
        self.most_debt_ns = most_debt_ns
        self.units = 0
        self.left = 0
        self.allowance_ns = 0.0
        self._jitter = 12345

    def next_unit(self):
        """A unit begins: True if it is to be traced."""
        self.units += 1
        if self.left == 0 and self.allowance_ns >= 0 and self.units >= self.first:
            self.left = self._burst_length()
        if self.left == 0:
            return False
        self.left -= 1
        return True

    def end_unit(self, wall_ns, cost_ns):
        """The unit took `wall_ns`, of which tracing cost `cost_ns` (0 if it was not traced)."""
        self.allowance_ns = min(self.allowance_ns + min(self.cap_ns, self.share * wall_ns), 4.0 * self.cap_ns)
        self.allowance_ns -= cost_ns
        if self.allowance_ns < -self.most_debt_ns:
            self.left = 0

    def stop_burst(self):
        self.left = 0

    def _burst_length(self):
        """Bursts vary by one or two units, lest they keep step with a pattern in the data."""
        self._jitter = (self._jitter * 1103515245 + 12345) & 0x7FFFFFFF
        return self.burst + (self._jitter >> 16) % (1 + self.burst // 8)
