// `fullbore bench`: how fast this machine can feed these pictures, and what holds it back.
#pragma once

#include <string>
#include <vector>

#include "feed/image/feed_bench.h"

namespace fullbore::cli {

struct BenchCommandOptions {
  std::vector<std::string> data;  // one name, or several of shards
  image::BenchOptions bench;
  bool json = false;
};

// The tables, or fullbore.bench/1.
std::string bench_text(const image::BenchResult& result);
std::string bench_json(const image::BenchResult& result);

// To stdout. 0; 1 if it failed; 128 + the signal that stopped it.
int bench_command(const BenchCommandOptions& options);

}  // namespace fullbore::cli
