#include "cli/pack_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <numeric>

#include "cli/feed_data.h"
#include "cli/progress.h"
#include "cli/stop_signals.h"

namespace fullbore::cli {
namespace {

int fail(const std::string& message) {
  fmt::print(stderr, "fullbore pack: {}\n", message);
  return 1;
}

// A folder of classes would get a class of shards.
bool lies_inside(const std::string& out, const std::string& data) {
  namespace fs = std::filesystem;
  std::error_code code;
  const fs::path inner = fs::weakly_canonical(out, code), outer = fs::weakly_canonical(data, code);
  const fs::path relative = inner.lexically_relative(outer);
  return !code && fs::is_directory(data, code) && !relative.empty() && *relative.begin() != "..";
}

void print_result(const image::PackResult& result, const std::string& out) {
  const image::PackIndex& index = result.index;
  std::uint64_t bytes = 0, samples = 0;
  for (const image::WrittenShard& shard : index.shards) {
    bytes += shard.bytes;
    samples += shard.samples;
  }
  if (result.resumed_at == index.samples) {
    fmt::print("{} was packed before: ", out);
  } else if (result.resumed_at > 0) {
    fmt::print("went on at sample {}: ", with_commas(result.resumed_at));
  }
  fmt::print("{} pictures in {} shards, {:.1f} MB, each read back; {}/index.json\n", with_commas(samples),
             with_commas(index.shards.size()), static_cast<double>(bytes) / 1e6, out);
  if (index.left_out.empty()) return;
  fmt::print("left out: {}, listed there; the first one is {}: {}\n", with_commas(index.left_out.size()),
             index.left_out.front().path, index.left_out.front().reason);
}

}  // namespace

int pack_command(const PackCommandOptions& options) {
  for (const std::string& name : options.data) {
    if (lies_inside(options.out, name))
      return fail(fmt::format("{} lies in {}, which is to be packed; choose another folder", options.out, name));
  }
  const auto catalogue = open_feed_data(options.data);
  if (!catalogue) return fail(catalogue.error().message());
  note_stop_signals();
  const base::MonotonicClock clock;
  base::Expected<image::PackResult> result = base::fail("");
  {
    ProgressLine line("packing", STDERR_FILENO, clock);
    std::optional<std::uint64_t> since;
    result = image::pack(*catalogue, options.out, options.pack, [&](const image::PackProgress& progress) {
      if (!since) since = progress.done;
      line.show(progress.done, progress.samples, *since);
      return stop_signal() == 0;
    });
  }
  if (!result)
    return fail(result.error().message() +
                (std::filesystem::exists(options.out + "/index.json")
                     ? "\nshards that were finished stay; the same command goes on after them"
                     : ""));
  if (result->stopped) {
    fmt::print(stderr, "fullbore pack: stopped; {} shards are finished, and the same command goes on after them\n",
               with_commas(result->index.shards.size()));
    return 128 + stop_signal();
  }
  print_result(*result, options.out);
  return 0;
}

}  // namespace fullbore::cli
