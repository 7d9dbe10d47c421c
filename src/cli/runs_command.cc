#include "cli/runs_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/report_command.h"
#include "cli/run_folders.h"
#include "cli/terminal.h"

namespace fullbore::cli {
namespace {

// Cause of the report that was written when the run ended; "" if there is none.
std::string verdict_of(const std::string& folder) {
  std::ifstream file(folder + "/report.json", std::ios::binary);
  const auto json = nlohmann::json::parse(file, nullptr, false);
  if (!json.is_object() || !json.contains("verdict") || !json["verdict"].is_object()) return "";
  return json["verdict"].value("cause", "");
}

std::string duration(const record::RunInfo& info) {
  if (!info.end_ns) return "-";
  const double seconds = static_cast<double>(*info.end_ns - info.start_ns) / 1e9;
  if (seconds < 120) return fmt::format("{:.0f} s", seconds);
  return seconds < 7200 ? fmt::format("{:.0f} min", seconds / 60) : fmt::format("{:.1f} h", seconds / 3600);
}

std::string size(std::uint64_t bytes) {
  return bytes < 1'000'000 ? fmt::format("{:.0f} kB", static_cast<double>(bytes) / 1e3)
                           : fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

}  // namespace

int list_runs_command(const std::string& directory) {
  const auto runs = list_runs(directory);
  if (runs.empty()) {
    fmt::print(stderr, "fullbore: no runs in {}\n", directory);
    return 0;
  }
  report::Page page(text_options_of(STDOUT_FILENO));
  const std::size_t command = page.width() - 9 - 21 - 10 - 18 - 10;
  page.line(page.paint(report::Ink::kDim, page.left("run", 9) + page.left("started (UTC)", 21) + page.right("ran", 8) +
                                              "  " + page.left("verdict", 18) + page.right("size", 8) + "  command"));
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const record::RunInfo& info = runs[i].info;
    std::string verdict = is_in_progress(runs[i]) ? "(running)" : verdict_of(runs[i].path);
    if (!info.fix.empty()) verdict += " +fix";
    page.line(page.left(i == 0 ? "last" : fmt::format("last~{}", i), 9) +
              page.left(report::clean(info.started_utc), 21) + page.right(duration(info), 8) + "  " +
              page.left(report::clean(verdict), 18) + page.right(size(runs[i].bytes), 8) + "  " +
              page.left(report::clean(fmt::format("{}", fmt::join(info.command, " "))), command));
  }
  fmt::print("{}", page.text());
  return 0;
}

int clean_runs(const CleanOptions& options) {
  if (!options.keep && !options.max_bytes) {
    fmt::print(stderr, "fullbore: say what to keep: --keep N or --max-size 1GB\n");
    return kUsage;
  }
  int code = 0;
  std::size_t kept = 0;
  std::size_t removed = 0;
  std::uint64_t bytes = 0;
  for (const RunFolder& run : list_runs(options.directory)) {
    const bool fits =
        kept < options.keep.value_or(SIZE_MAX) && bytes + run.bytes <= options.max_bytes.value_or(UINT64_MAX);
    if (fits || is_in_progress(run)) {
      ++kept;
      bytes += run.bytes;
      continue;
    }
    if (const auto done = remove_run(run.path); done) {
      ++removed;
    } else {
      fmt::print(stderr, "fullbore: {}\n", done.error().message());
      code = 1;
    }
  }
  fmt::print("removed {}, kept {} ({})\n", removed, kept, size(bytes));
  return code;
}

}  // namespace fullbore::cli
