#include "cli/bench_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/utf8.h"
#include "cli/feed_data.h"
#include "cli/progress.h"
#include "cli/stop_signals.h"

namespace fullbore::cli {
namespace {

using image::BenchResult;
using image::StageCosts;
using image::ThreadsRate;
using Json = nlohmann::ordered_json;

int fail(const std::string& message) {
  fmt::print(stderr, "fullbore bench: {}\n", message);
  return 1;
}

std::string rate_text(double per_s) {
  return with_commas(static_cast<std::uint64_t>(std::llround(per_s)));
}

double reading_rate(const BenchResult& result) {
  return static_cast<double>(result.reading.pictures) / result.reading.seconds;
}

// Whether the number is that of the disk or of memory.
std::string cache_text(const image::ReadingRate& reading) {
  if (!reading.cached) return "page cache: not known, the files are another user's";
  const double percent = 100 * *reading.cached;
  const char* word = percent >= 90 ? "warm" : percent <= 10 ? "cold" : "partly warm";
  return fmt::format("{}: {:.0f} % was in the page cache", word, percent);
}

std::string stage_row(const char* name, const StageCosts& costs) {
  return fmt::format("{:<24}{:>8.3f}{:>9.3f}{:>9.3f}{:>8.3f}\n", name, costs.read_ms, costs.decode_ms, costs.finish_ms,
                     costs.all_ms());
}

double cpu_ms_per_picture(const ThreadsRate& rate) {
  return rate.cpu_seconds * 1e3 / static_cast<double>(rate.pictures);
}

std::string limit_text(const BenchResult& result) {
  const image::BenchLimit limit = image::find_limit(result);
  if (limit.part == "storage")
    return fmt::format("limit: storage, {} pictures/s; then {}, {}\n", rate_text(limit.pictures_per_s), limit.next_part,
                       rate_text(limit.next_pictures_per_s));
  const StageCosts& costs = result.later_epochs;
  const double share = (limit.part == "read"     ? costs.read_ms
                        : limit.part == "decode" ? costs.decode_ms
                                                 : costs.finish_ms) /
                       costs.all_ms();
  return fmt::format("limit: the cores, {} pictures/s; {:.0f} % of a picture's CPU time is {}; storage would give {}\n",
                     rate_text(limit.pictures_per_s), 100 * share, limit.part, rate_text(limit.next_pictures_per_s));
}

// Where threads did not run although they had work: numbers are those of a machine that others use too.
std::string taken_cores_text(const ThreadsRate& rate) {
  const double cores = rate.cpu_seconds / rate.seconds;
  if (cores >= 0.85 * rate.threads) return "";
  return fmt::format(
      "{} threads had {:.1f} cores: other programs or a quota took the rest; with all of them at most {}\n",
      rate.threads, cores, rate_text(1e3 * rate.threads / cpu_ms_per_picture(rate)));
}

Json costs_json(const StageCosts& costs) {
  return {{"pictures", costs.pictures},
          {"read_ms", costs.read_ms},
          {"decode_ms", costs.decode_ms},
          {"finish_ms", costs.finish_ms}};
}

}  // namespace

std::string bench_text(const BenchResult& result) {
  const image::ReadingRate& reading = result.reading;
  std::string text = fmt::format("{} pictures, {:.1f} kB each; decoded by", with_commas(result.samples),
                                 static_cast<double>(reading.bytes) / 1e3 / static_cast<double>(reading.pictures));
  const char* comma = "";
  for (const auto& [by, count] : reading.by) {
    text += fmt::format("{} {}: {}", comma, by, with_commas(count));
    comma = ",";
  }
  text +=
      fmt::format("\n\nreading alone: {} pictures/s, {:.0f} MB/s, {} threads ({})\n", rate_text(reading_rate(result)),
                  static_cast<double>(reading.bytes) / 1e6 / reading.seconds, reading.threads, cache_text(reading));
  text += "\nCPU ms per picture          read   decode   finish     all\n";
  text += stage_row("first epoch", result.first_epoch) + stage_row("later epochs", result.later_epochs);
  text += "\nthreads    pictures/s   per thread   CPU ms per picture   cores used\n";
  for (const ThreadsRate& rate : result.rates) {
    text += fmt::format("{:>7}{:>14}{:>13}{:>21.3f}{:>13.1f}\n", rate.threads, rate_text(rate.pictures_per_s()),
                        rate_text(rate.pictures_per_s() / rate.threads), cpu_ms_per_picture(rate),
                        rate.cpu_seconds / rate.seconds);
  }
  text += "\n" + limit_text(result) + taken_cores_text(result.rates.back());
  if (result.bad > 0) text += fmt::format("bad pictures: {}; one is {}\n", with_commas(result.bad), result.first_bad);
  return text;
}

std::string bench_json(const BenchResult& result) {
  const image::ReadingRate& reading = result.reading;
  const image::BenchLimit limit = image::find_limit(result);
  Json json = {
      {"schema", "fullbore.bench/1"},
      {"samples", result.samples},
      {"bad", {{"count", result.bad}, {"first", result.bad > 0 ? Json(base::to_utf8(result.first_bad)) : Json()}}},
      {"reading",
       {{"threads", reading.threads},
        {"pictures", reading.pictures},
        {"bytes", reading.bytes},
        {"seconds", reading.seconds},
        {"pictures_per_s", reading_rate(result)},
        {"cached_share", reading.cached ? Json(*reading.cached) : Json()},
        {"decoded_by", reading.by}}},
      {"cpu_ms_per_picture",
       {{"first_epoch", costs_json(result.first_epoch)}, {"later_epochs", costs_json(result.later_epochs)}}},
      {"threads", Json::array()},
      {"repeated_pictures", result.repeated},
      {"limit",
       {{"part", limit.part},
        {"pictures_per_s", limit.pictures_per_s},
        {"next_part", limit.next_part},
        {"next_pictures_per_s", limit.next_pictures_per_s}}}};
  for (const ThreadsRate& rate : result.rates) {
    json["threads"].push_back({{"threads", rate.threads},
                               {"pictures", rate.pictures},
                               {"seconds", rate.seconds},
                               {"pictures_per_s", rate.pictures_per_s()},
                               {"cpu_ms_per_picture", cpu_ms_per_picture(rate)},
                               {"cores_used", rate.cpu_seconds / rate.seconds}});
  }
  return json.dump(1) + "\n";
}

int bench_command(const BenchCommandOptions& options) {
  const auto catalogue = open_feed_data(options.data);
  if (!catalogue) return fail(catalogue.error().message());
  note_stop_signals();
  const base::MonotonicClock clock;
  base::Expected<BenchResult> result = base::fail("");
  {
    ProgressLine line("measuring, % of the time", STDERR_FILENO, clock);
    result = image::run_bench(*catalogue, options.bench, [&](double done) {
      line.show(static_cast<std::uint64_t>(100 * done), 100);
      return stop_signal() == 0;
    });
  }
  if (stop_signal() != 0) return 128 + stop_signal();
  if (!result) return fail(result.error().message());
  fmt::print("{}", options.json ? bench_json(*result) : bench_text(*result));
  return 0;
}

}  // namespace fullbore::cli
