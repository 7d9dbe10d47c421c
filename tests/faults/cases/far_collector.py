"""A collector of metrics over HTTP that is far away: each request takes the time of a round trip."""

import http.server
import multiprocessing
import time


class FarAway(http.server.BaseHTTPRequestHandler):
    trip_s = 0.15

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        time.sleep(self.trip_s)
        self.send_response(200)
        self.end_headers()

    def log_message(self, *arguments):
        pass


def start(trip_ms):
    """(its address, the process to terminate)."""
    FarAway.trip_s = trip_ms / 1e3
    server = http.server.HTTPServer(("127.0.0.1", 0), FarAway)
    collector = multiprocessing.get_context("fork").Process(target=server.serve_forever, daemon=True)
    collector.start()
    return "127.0.0.1:%d" % server.server_port, collector
