#include "cli/run_folders.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <tuple>

#include "record/run_info.h"

namespace fullbore::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 6> kOwnFiles = {"report.json", "report.txt",   "source.json",
                                                       "system.fbr",  "run.json.new", "run.json"};
constexpr auto kInProgress = std::chrono::minutes(1);

bool is_real_directory(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(fs::symlink_status(path, ignored));
}

bool is_real_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(fs::symlink_status(path, ignored));
}

std::optional<record::RunInfo> info_of(const fs::path& folder) {
  if (!is_real_directory(folder) || !is_real_file(folder / "run.json")) return std::nullopt;
  std::ifstream file(folder / "run.json", std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  auto info = record::parse_run_info(text);
  return info ? std::optional(std::move(*info)) : std::nullopt;
}

std::uint64_t size_of(const fs::path& folder) {
  std::uint64_t bytes = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    if (is_real_file(it->path())) bytes += it->file_size(ignored);
  }
  return bytes;
}

bool is_rank_folder(const fs::path& path) {
  const std::string name = path.filename();
  return is_real_directory(path) && name.starts_with("rank-") &&
         name.find_first_not_of("0123456789", 5) == std::string::npos;
}

// N of "last~N", 0 for "last".
std::optional<std::size_t> steps_back(std::string_view run) {
  if (run == "last") return 0;
  if (!run.starts_with("last~")) return std::nullopt;
  std::size_t back = 0;
  const char* end = run.data() + run.size();
  const auto [stop, error] = std::from_chars(run.data() + 5, end, back);
  return error == std::errc() && stop == end ? std::optional(back) : std::nullopt;
}

}  // namespace

std::vector<RunFolder> list_runs(const std::string& directory) {
  std::vector<RunFolder> runs;
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    if (auto info = info_of(it->path())) runs.push_back({it->path(), std::move(*info), size_of(it->path())});
  }
  std::ranges::sort(runs, std::greater{}, [](const RunFolder& r) { return std::tie(r.info.started_utc, r.path); });
  return runs;
}

base::Expected<std::string> resolve_run(const std::string& run, const std::string& directory) {
  const auto back = steps_back(run);
  std::error_code ignored;
  // A folder of that name would be ./last.
  if (!back) {
    if (!fs::exists(run, ignored))
      return base::fail(fmt::format("no run '{}'; `fullbore runs` lists what there is", run));
    if (!fs::exists(fs::path(run) / "run.json", ignored)) {
      return base::fail(fmt::format("{} is no run folder (it holds no run.json)", run));
    }
    return run;
  }
  const auto runs = list_runs(directory);
  if (runs.empty())
    return base::fail(fmt::format("no run in {}; name its folder, or point to it with --dir", directory));
  if (*back >= runs.size()) {
    return base::fail(fmt::format("no run '{}': {} holds only {}", run, directory, runs.size()));
  }
  return runs[*back].path;
}

base::Expected<void> remove_run(const std::string& folder) {
  if (!info_of(folder)) return base::fail(folder + " is no run folder; nothing was removed");
  std::error_code error;
  std::vector<fs::path> ranks;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (is_rank_folder(it->path())) ranks.push_back(it->path());
  }
  for (const fs::path& rank : ranks) {
    fs::remove(rank / "records.fbr", error);
    fs::remove(rank, error);
  }
  for (const std::string_view name : kOwnFiles) {
    const bool holds_more = name == "run.json" && std::distance(fs::directory_iterator(folder, error), {}) > 1;
    if (holds_more) return base::fail(fmt::format("kept {}: it holds files that are not Fullbore's", folder));
    fs::remove(fs::path(folder) / name, error);
  }
  if (!fs::remove(folder, error)) return base::fail(fmt::format("cannot remove {}: {}", folder, error.message()));
  return {};
}

bool is_in_progress(const RunFolder& run) {
  if (run.info.end_ns) return false;
  std::error_code error;
  auto newest = fs::last_write_time(run.path, error);
  for (fs::recursive_directory_iterator it(run.path, error), end; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    newest = std::max(newest, it->last_write_time(ignored));
  }
  return fs::file_time_type::clock::now() - newest < kInProgress;
}

}  // namespace fullbore::cli
