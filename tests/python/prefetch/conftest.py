"""The prefetcher's tests need the package with its extension, and the fake driver that is built beside it."""

import glob
import os
import sys

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
package = os.environ.get("FULLBORE_PACKAGE") or os.path.join(ROOT, "build", "dev", "fullbore")
sys.path[:0] = [path for path in (os.path.dirname(package), os.path.join(os.path.dirname(package), "testing"))]

# The tests on a GPU run with a package alone, without the fake.
collect_ignore = [] if glob.glob(os.path.join(os.path.dirname(package), "testing", "_fullbore_fake*")) else [
    name for name in os.listdir(os.path.dirname(__file__)) if name.startswith("test_prefetch") and "gpu" not in name
]


@pytest.fixture(params=range(5))
def device(request):
    import _fullbore_fake as fake
    from fake_device import FakeDevice

    fake.reset(seed=request.param)
    return FakeDevice()
