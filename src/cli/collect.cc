#include "cli/collect.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <map>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "cli/describe_run.h"
#include "cli/report_command.h"
#include "observe/collector.h"
#include "observe/launcher.h"
#include "observe/samplers/all_samplers.h"
#include "record/run_writer.h"

namespace fullbore::cli {
namespace {

// The command line of a process, as it would be typed.
std::vector<std::string> command_of(const base::FileReader& files, int pid) {
  std::vector<std::string> words;
  const auto line = files.read("/proc/" + std::to_string(pid) + "/cmdline");
  for (std::size_t at = 0; line && at < line->size();) {
    const std::size_t end = std::min(line->find('\0', at), line->size());
    words.push_back(line->substr(at, end - at));
    at = end + 1;
  }
  return words;
}

// Enough for every cell that a person has typed.
constexpr std::size_t kMostSource = 16 << 20;

// False when our starter has closed stdin, that is, wants the end. Waits for at most one round. What it wrote before,
// the source of a notebook's cells, is added to `text`.
bool stdin_is_open(std::string& text) {
  pollfd fd = {STDIN_FILENO, POLLIN, 0};
  if (::poll(&fd, 1, static_cast<int>(observe::Collector::kPeriodNs / 1'000'000)) <= 0) return true;
  char buffer[65536];
  const ssize_t count = ::read(STDIN_FILENO, buffer, sizeof buffer);
  if (count <= 0) return false;
  if (text.size() + static_cast<std::size_t>(count) <= kMostSource)
    text.append(buffer, static_cast<std::size_t>(count));
  return true;
}

// {"<ipython-input-3>": "for x in loader:\n..."}; anything else is no source.
std::map<std::string, std::string> cells_in(const std::string& text) {
  std::map<std::string, std::string> cells;
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) return cells;
  for (const auto& [name, source] : json.items()) {
    if (source.is_string()) cells[name] = source.get<std::string>();
  }
  return cells;
}

}  // namespace

int collect(const CollectOptions& options) {
  const base::RealFiles files;
  const base::MonotonicClock clock;
  const auto pid = static_cast<std::uint32_t>(options.pid);
  const auto started = observe::read_process_stat(files, pid);
  if (!started) {
    observe::say("no process " + std::to_string(options.pid) + " to collect from");
    return observe::kCannotStart;
  }
  auto writer = record::RunWriter::create({.folder = options.out}, clock);
  if (!writer) {
    observe::say(writer.error().message());
    return observe::kCannotStart;
  }
  record::RunInfo info = describe_run(command_of(files, options.pid));
  info.start_ns = clock.now_ns();
  (void)writer->write_info(info);
  // A notebook's interrupt is for the notebook.
  ::signal(SIGINT, SIG_IGN);
  observe::Collector collector({options.rings, pid}, *writer, observe::make_samplers(files), files, clock);
  const auto lives = [&] {
    const auto now = observe::read_process_stat(files, pid);
    return now && now->start_ticks == started->start_ticks && now->state != 'Z';
  };
  std::string source;
  while (stdin_is_open(source) && lives() && ::access(options.rings.c_str(), F_OK) == 0) collector.tick();
  collector.finish();
  info.end_ns = clock.now_ns();
  info.stopped_by = lives() ? "watching ended" : "command ended";
  info.missing = collector.missing();
  const observe::OwnCost cost = observe::own_cost();
  info.collector_cpu_s = cost.cpu_s;
  info.collector_peak_mib = cost.peak_mib;
  (void)writer->write_info(info);
  report_run(options.out, {.quiet = true, .file = {}, .cells = cells_in(source)});
  return 0;
}

}  // namespace fullbore::cli
