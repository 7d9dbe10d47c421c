#include "cli/index_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "base/clock.h"
#include "cli/cache_folder.h"
#include "cli/feed_data.h"
#include "cli/progress.h"
#include "feed/image/index_build.h"

namespace fullbore::cli {
namespace {

using image::IndexReport;

std::string size(std::uint64_t bytes) {
  const auto value = static_cast<double>(bytes);
  if (bytes < 1'000'000) return fmt::format("{:.1f} kB", value / 1e3);
  return bytes < 1'000'000'000 ? fmt::format("{:.1f} MB", value / 1e6) : fmt::format("{:.1f} GB", value / 1e9);
}

double percent_of_data(const IndexReport& report) {
  return report.data_bytes == 0
             ? 0
             : 100 * static_cast<double>(report.index_bytes) / static_cast<double>(report.data_bytes);
}

std::string as_json(const IndexReport& report, bool check) {
  nlohmann::ordered_json json = {
      {"schema", "fullbore.index/1"},
      {"path", report.path},
      {"index_bytes", report.index_bytes},
      {"data_bytes", report.data_bytes},
      {"pictures", report.pictures},
      {"baseline", report.baseline},
      {"progressive", report.progressive},
      {"other", report.other},
      {"bad", report.bad},
      {"known", report.known},
      {"added", check ? nlohmann::ordered_json() : nlohmann::ordered_json(report.added)},
      {"missing", check ? nlohmann::ordered_json(report.missing) : nlohmann::ordered_json()},
      {"wrong", check ? nlohmann::ordered_json(report.wrong) : nlohmann::ordered_json()},
  };
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string as_text(const IndexReport& report, bool check) {
  std::string text = fmt::format("{} pictures, {}\n", report.pictures, size(report.data_bytes));
  text += fmt::format("  {:>9} baseline: {} in the index, ", report.baseline, report.known);
  text += check ? fmt::format("{} missing, {} wrong\n", report.missing, report.wrong)
                : fmt::format("{} added\n", report.added);
  if (report.progressive != 0)
    text += fmt::format("  {:>9} progressive: decoded whole, whatever the crop\n", report.progressive);
  if (report.other != 0) text += fmt::format("  {:>9} other kinds: decoded whole\n", report.other);
  if (report.bad != 0) text += fmt::format("  {:>9} bad, the first: {}\n", report.bad, report.first_bad);
  return text +
         fmt::format("{}: {}, {:.2f} % of the data\n", report.path, size(report.index_bytes), percent_of_data(report));
}

}  // namespace

int index_command(const IndexCommandOptions& options) {
  const base::MonotonicClock clock;
  std::optional<ProgressLine> progress;
  progress.emplace(options.check ? "checking" : "indexing", STDERR_FILENO, clock);
  const auto report =
      image::build_index(options.data,
                         {.index = options.index,
                          .index_cache = cache_folder(),
                          .listing_cache = listing_cache(),
                          .threads = options.threads,
                          .check = options.check},
                         [&](std::uint64_t done, std::uint64_t pictures) { progress->show(done, pictures); });
  progress.reset();
  if (!report) {
    fmt::print(stderr, "fullbore: {}\n", report.error().message());
    return 1;
  }
  fmt::print("{}", options.json ? as_json(*report, options.check) + "\n" : as_text(*report, options.check));
  return report->missing + report->wrong == 0 ? 0 : 1;
}

}  // namespace fullbore::cli
