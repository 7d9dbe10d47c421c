#include "observe/collector_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <new>

#include "observe/collector.h"
#include "observe/descriptors.h"
#include "observe/ring_directory.h"

namespace fullbore::observe {
namespace {

constexpr std::string_view kWatch = "watch ";
constexpr std::string_view kFinish = "finish";
constexpr std::string_view kSteps = "steps";
constexpr std::string_view kSummary = "summary\t";
constexpr std::size_t kLongestMessage = 64u << 10;

// "" at the end of file, nullopt if there is no message now.
std::optional<std::string> receive(int fd) {
  std::string message(kLongestMessage, '\0');
  const ssize_t n = ::recv(fd, message.data(), message.size(), MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return std::nullopt;
  message.resize(n < 0 ? 0 : static_cast<std::size_t>(n));
  return message;
}

void send_message(int fd, const std::string& message) {
  // A peer that died is noticed by the end of file.
  (void)::send(fd, message.data(), std::min(message.size(), kLongestMessage), MSG_NOSIGNAL);
}

// Lives in the collector process from fork to exit.
class CollectorMain {
 public:
  CollectorMain(const CollectorProcessOptions& options, record::RunWriter& writer, WitnessPage& page, int channel,
                std::uint32_t launcher_pid)
      : options_(options), writer_(writer), page_(page), channel_(channel), launcher_pid_(launcher_pid) {}

  void run() {
    WitnessRecorder recorder(page_, clock_);
    std::int64_t due_ns = clock_.now_ns();
    for (bool finished = false; !finished;) {
      const std::int64_t wait_ns = std::max<std::int64_t>(due_ns - clock_.now_ns(), 0);
      pollfd fds[] = {{recorder.fd(), POLLIN, 0}, {channel_, POLLIN, 0}};
      ::poll(fds, 2, static_cast<int>((wait_ns + 999'999) / 1'000'000));
      if (fds[0].revents != 0) recorder.take();
      if (fds[1].revents != 0) finished = obey();
      if (finished || clock_.now_ns() < due_ns) continue;
      due_ns = clock_.now_ns() + Collector::kPeriodNs;
      tick();
    }
  }

 private:
  void tick() {
    if (!collector_) return;
    collector_->tick();
    if (options_.steps && !steps_told_ && collector_->steps() >= *options_.steps) {
      steps_told_ = true;
      send_message(channel_, std::string(kSteps));
    }
    wake_launcher();
  }

  // The launcher stops itself when the command is stopped, as job control wants it. If somebody then continues the
  // command alone, nobody else would wake the launcher.
  void wake_launcher() {
    if (page_.stopped_with_command == 0) return;
    const auto command = read_process_stat(files_, root_pid_);
    const auto launcher = read_process_stat(files_, launcher_pid_);
    const auto stopped = [](const std::optional<ProcessStat>& stat) { return stat && stat->state == 'T'; };
    if (!stopped(command) && stopped(launcher)) ::kill(static_cast<pid_t>(launcher_pid_), SIGCONT);
  }

  // True when it is time to exit.
  bool obey() {
    const auto message = receive(channel_);
    if (!message) return false;
    if (message->starts_with(kWatch)) {
      root_pid_ = static_cast<std::uint32_t>(std::strtoul(message->c_str() + kWatch.size(), nullptr, 10));
      collector_.emplace(CollectorOptions{options_.rings, root_pid_}, writer_, options_.make_samplers(files_), files_,
                         clock_);
      return false;
    }
    finish(*message == kFinish);
    return true;
  }

  void finish(bool launcher_lives) {
    if (collector_) collector_->finish();
    if (!options_.rings.empty()) RingDirectory::adopt(options_.rings).remove();
    if (!collector_) return;
    const OwnCost cost = own_cost();
    const CollectorSummary summary = {cost.cpu_s, cost.peak_mib, collector_->heard(), collector_->missing()};
    if (launcher_lives) return send_message(channel_, encode(summary));
    record::RunInfo info = options_.info;  // without an end: this run was cut short
    info.collector_cpu_s = summary.cpu_s;
    info.collector_peak_mib = summary.peak_mib;
    info.missing.insert(info.missing.end(), summary.missing.begin(), summary.missing.end());
    info.missing.emplace_back("end", "fullbore was killed before the command ended");
    (void)writer_.write_info(info);
  }

  const CollectorProcessOptions& options_;
  record::RunWriter& writer_;
  WitnessPage& page_;
  int channel_;
  std::uint32_t launcher_pid_;
  std::uint32_t root_pid_ = 0;
  base::RealFiles files_;
  base::MonotonicClock clock_;
  std::optional<Collector> collector_;
  bool steps_told_ = false;
};

[[noreturn]] void be_the_collector(const CollectorProcessOptions& options, record::RunWriter& writer, WitnessPage& page,
                                   int channel, std::uint32_t launcher_pid) {
  ::prctl(PR_SET_NAME, "fullbore-collec");
  // Training comes first; the collector needs well under 1 % of a core and sleeps the rest.
  (void)!::nice(5);
  for (const int standard : {0, 1, 2}) replace_by_null(standard);
  CollectorMain(options, writer, page, channel, launcher_pid).run();
  ::_exit(0);
}

std::string one_line(std::string text) {
  std::ranges::replace_if(text, [](char c) { return c == '\n' || c == '\t'; }, ' ');
  return text;
}

}  // namespace

std::string encode(const CollectorSummary& summary) {
  std::string message = fmt::format("{}{}\t{}\t{}\n", kSummary, summary.cpu_s, summary.peak_mib, summary.heard ? 1 : 0);
  for (const auto& [signal, why] : summary.missing) message += one_line(signal) + "\t" + one_line(why) + "\n";
  return message;
}

std::optional<CollectorSummary> decode_summary(std::string_view message) {
  if (!message.starts_with(kSummary)) return std::nullopt;
  CollectorSummary summary;
  int heard = 0;
  const std::string numbers(message.substr(kSummary.size(), message.find('\n') - kSummary.size()));
  if (std::sscanf(numbers.c_str(), "%lf\t%lf\t%d", &summary.cpu_s, &summary.peak_mib, &heard) != 3) return std::nullopt;
  summary.heard = heard != 0;
  for (std::size_t at = message.find('\n') + 1; at < message.size();) {
    const std::size_t end = std::min(message.find('\n', at), message.size());
    const std::string_view line = message.substr(at, end - at);
    if (const std::size_t tab = line.find('\t'); tab != std::string_view::npos) {
      summary.missing.emplace_back(line.substr(0, tab), line.substr(tab + 1));
    }
    at = end + 1;
  }
  return summary;
}

void CollectorProcess::Unmap::operator()(WitnessPage* page) const {
  ::munmap(page, sizeof *page);
}

base::Expected<CollectorProcess> CollectorProcess::start(const CollectorProcessOptions& options,
                                                         record::RunWriter& writer) {
  CollectorProcess process;
  void* page = ::mmap(nullptr, sizeof(WitnessPage), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return std::unexpected(base::Error::system(errno, "cannot map a page for the collector"));
  process.page_.reset(new (page) WitnessPage{});
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    return std::unexpected(base::Error::system(errno, "cannot make a socket for the collector"));
  }
  process.channel_.reset(ends[0]);
  base::UniqueFd theirs(ends[1]);
  const auto launcher_pid = static_cast<std::uint32_t>(::getpid());
  const pid_t pid = ::fork();
  if (pid < 0) return std::unexpected(base::Error::system(errno, "cannot start the collector"));
  if (pid == 0) {
    process.channel_.reset();
    be_the_collector(options, writer, process.witness(), theirs.get(), launcher_pid);
  }
  process.pid_ = static_cast<std::uint32_t>(pid);
  return process;
}

void CollectorProcess::watch(std::uint32_t root_pid) {
  send(fmt::format("{}{}", kWatch, root_pid));
}
void CollectorProcess::finish() {
  send(std::string(kFinish));
}
void CollectorProcess::kill() {
  ::kill(static_cast<pid_t>(pid_), SIGKILL);
}
void CollectorProcess::send(const std::string& message) {
  send_message(channel_.get(), message);
}

CollectorProcess::News CollectorProcess::read_news() {
  News news;
  while (const auto message = receive(channel_.get())) {
    if (message->empty()) {
      news.gone = true;
      return news;
    }
    if (*message == kSteps) news.steps_reached = true;
    if (auto summary = decode_summary(*message)) news.summary = std::move(*summary);
  }
  return news;
}

}  // namespace fullbore::observe
