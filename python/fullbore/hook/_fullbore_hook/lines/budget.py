"""Decides when tracing may run, so that its long-run cost stays under a share of the time watched.

Pays afterwards: each unit (iteration, sample) earns an allowance, each traced unit spends what it really cost, and a
burst of consecutive units begins when the account is not in debt. An opening credit buys the first bursts, so that
there are lines early; they keep a distance, so that they see more than one moment of the data.
"""

_SAVED_UNITS = 4  # allowance is not saved up: it would buy a long burst
_REST = 7         # units of rest for each unit of a burst that cost more than it earned


class Budget:
    """`share` of each unit's wall time, at most `cap_ns` per unit; bursts of `burst` units from unit `first` on.

    A burst ends early once `most_debt_ns` is owed. `opening_ns` is the credit of the start.
    """

    def __init__(self, share, cap_ns, burst, first, most_debt_ns, opening_ns):
        self.share = share
        self.cap_ns = cap_ns
        self.burst = burst
        self.first = first
        self.most_debt_ns = most_debt_ns
        self.units = 0
        self.left = 0
        self.allowance_ns = float(opening_ns)
        self._before_ns = self.allowance_ns
        self._rest = 0
        self._jitter = 12345

    def next_unit(self):
        """A unit begins: True if it is to be traced."""
        self.units += 1
        if self.left == 0:
            if self._rest:
                self._rest -= 1
            elif self.allowance_ns >= 0 and self.units >= self.first:
                self.left = self._burst_length()
                self._before_ns = self.allowance_ns
            if self.left == 0:
                return False
        self.left -= 1
        return True

    def resting(self):
        """So many units to come will surely not be traced."""
        if self.left:
            return 0
        owed = -self.allowance_ns / self.cap_ns if self.allowance_ns < 0 else 0
        return max(self._rest, int(owed), self.first - self.units - 1)

    def pass_over(self, units):
        """So many units passed, not traced and without next_unit() being asked; the coming end_unit() counts them."""
        self.units += units
        self._rest = max(0, self._rest - units)

    def end_unit(self, wall_ns, cost_ns, units=1):
        """The units took `wall_ns` together, of which tracing cost `cost_ns` (0 if none was traced)."""
        earned = min(self.cap_ns * units, self.share * wall_ns)
        self.allowance_ns += max(0.0, min(earned, _SAVED_UNITS * self.cap_ns - self.allowance_ns))
        self.allowance_ns -= cost_ns
        if self.allowance_ns < -self.most_debt_ns:
            self.left = 0
        if cost_ns and self.left == 0 and self.allowance_ns < self._before_ns:
            self._rest = _REST * self.burst

    def stop_burst(self):
        self.left = 0

    def _burst_length(self):
        """Bursts vary by one or two units, lest they keep step with a pattern in the data."""
        self._jitter = (self._jitter * 1103515245 + 12345) & 0x7FFFFFFF
        return self.burst + (self._jitter >> 16) % (1 + self.burst // 8)
