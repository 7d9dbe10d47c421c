// Gathers everything of a run into its folder: drains the rings of watched processes, keeps the process tree up to date
// and runs the samplers. Driven by tick(), about 20 times a second; knows nothing of how it was started.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/file_reader.h"
#include "base/unique_fd.h"
#include "observe/process_tree.h"
#include "observe/record_tally.h"
#include "observe/ring_file.h"
#include "observe/sampler.h"
#include "observe/series_encoder.h"
#include "record/run_writer.h"

namespace fullbore::observe {

// What collecting has cost this process so far.
struct OwnCost {
  double cpu_s = 0;
  double peak_mib = 0;
};
OwnCost own_cost();

struct CollectorOptions {
  std::string rings;  // "" collects from the system alone
  std::uint32_t root_pid = 0;
};

// Owned by one thread; writer, files and clock outlive it.
class Collector {
 public:
  static constexpr std::int64_t kPeriodNs = 50'000'000;

  Collector(CollectorOptions options, record::RunWriter& writer, std::vector<std::unique_ptr<Sampler>> samplers,
            const base::FileReader& files, const base::Clock& clock);

  void tick();
  // Takes what is left, tells every producer to turn itself off, unlinks the rings and writes the rest to the folder.
  void finish();

  std::uint64_t steps() const { return tally_.steps(); }
  // Did any process of the command ever report through a ring?
  bool heard() const { return tally_.records() > 0; }
  // What could not be measured so far, with reasons.
  std::vector<std::pair<std::string, std::string>> missing() const;

 private:
  struct Ring {
    RingFile file;
    std::uint64_t dropped = 0;
  };
  struct Scheduled {
    std::unique_ptr<Sampler> sampler;
    std::int64_t due_ns = 0;
  };

  void find_rings();
  void drain(Ring& ring, std::int64_t now_ns);
  void drop_dead_rings();
  bool producer_is_dead(const RingFile& ring) const;
  void refresh_tree();
  void sample(std::int64_t now_ns);

  CollectorOptions options_;
  record::RunWriter& writer_;
  const base::FileReader& files_;
  const base::Clock& clock_;
  base::UniqueFd directory_;
  std::list<Ring> rings_;             // a mapping does not move
  std::vector<std::string> refused_;  // names of files that are no rings
  std::vector<std::byte> buffer_;
  ProcessTracker tracker_;
  ProcessTree tree_;
  RecordTally tally_;
  SeriesEncoder series_;
  std::vector<Scheduled> samplers_;
  std::int64_t tree_due_ns_ = 0;
  std::int64_t deaths_due_ns_ = 0;
};

}  // namespace fullbore::observe
