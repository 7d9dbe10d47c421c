"""`pytest tests/golden --update` rewrites the stored reports. It never touches expect.json: that is written by hand."""


def pytest_addoption(parser):
    parser.addoption("--update", action="store_true", help="rewrite report.json and report.txt from the stored runs")
