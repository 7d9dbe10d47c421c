// The collector as a process of its own: a crash or a kill of it touches neither the launcher nor the command, and,
// being in their process group, it is the witness for signals. The launcher's end of it is CollectorProcess.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/unique_fd.h"
#include "observe/sampler.h"
#include "observe/signals.h"
#include "record/run_writer.h"

namespace fullbore::observe {

using MakeSamplers = std::function<std::vector<std::unique_ptr<Sampler>>(const base::FileReader&)>;

struct CollectorProcessOptions {
  std::string rings;  // removed at the end; "" if there are none
  std::optional<std::uint64_t> steps;
  record::RunInfo info;  // as the launcher wrote it; used only if the launcher dies first
  MakeSamplers make_samplers;
};

// What the collector tells at its end.
struct CollectorSummary {
  double cpu_s = 0;
  double peak_mib = 0;
  bool heard = false;
  std::vector<std::pair<std::string, std::string>> missing;
};
std::string encode(const CollectorSummary& summary);
std::optional<CollectorSummary> decode_summary(std::string_view message);

// Launcher's side; one thread. The process is a child: whoever waits for children reports its end with ended().
class CollectorProcess {
 public:
  // Forks. All relayed signals must be blocked already.
  static base::Expected<CollectorProcess> start(const CollectorProcessOptions& options, record::RunWriter& writer);

  // Readable when there is news; end of file when the collector is gone.
  int fd() const { return channel_.get(); }
  std::uint32_t pid() const { return pid_; }
  WitnessPage& witness() const { return *page_; }

  // Tells whom to watch; collecting begins.
  void watch(std::uint32_t root_pid);
  // Asks for the summary and the end.
  void finish();
  void kill();

  struct News {
    bool steps_reached = false;
    bool gone = false;
    std::optional<CollectorSummary> summary;
  };
  News read_news();

 private:
  CollectorProcess() = default;
  void send(const std::string& message);

  struct Unmap {
    void operator()(WitnessPage* page) const;
  };
  std::unique_ptr<WitnessPage, Unmap> page_;
  base::UniqueFd channel_;
  std::uint32_t pid_ = 0;
};

}  // namespace fullbore::observe
