// Sums profile records over processes and flushes; see profile.h.
#include "diagnose/profile.h"

#include <algorithm>
#include <tuple>

#include "diagnose/ownership.h"

namespace fullbore::diagnose {
namespace {

// Entries of one flush carry the same window; flushes of a process are at least half a second apart.
constexpr std::int64_t kFlushSpreadNs = 250'000'000;

struct CalleeSum {
  double wall_ns = 0;
  double count = 0;
  wire::Stage stage = wire::Stage::kUnspecified;
};

struct LineSum {
  double wall_ns = 0;
  double callees_ns = 0;
  double count = 0;
  double opens = 0;
  std::map<wire::Stage, double> stages;
  std::map<wire::NameId, CalleeSum> callees;
  wire::Stage stage = wire::Stage::kUnspecified;
};

class PlaceSums {
 public:
  void add(const record::From<wire::ProfileRecord>& entry) {
    const wire::ProfileRecord& record = entry.record;
    if (record.wall_ns < 0 || record.window_ns <= 0) return;
    Flush& last = flushes_[{entry.pid, entry.tid, record.loader}];
    const bool same = last.window_ns == record.window_ns && last.windows == record.windows &&
                      record.time_ns - last.time_ns < kFlushSpreadNs;
    if (!same) {
      window_ns_ += static_cast<double>(record.window_ns);
      windows_ += record.windows;
    }
    last = {record.window_ns, record.windows, record.time_ns};
    add(record, lines_[{record.file, record.line}]);
  }

  PlaceProfile result(const record::Run& run) const {
    PlaceProfile out;
    out.window_ns = window_ns_;
    out.windows = windows_;
    if (window_ns_ <= 0) return out;
    double claimed = 0;
    for (const auto& [key, sum] : lines_) {
      for (const auto& [stage, ns] : sum.stages) {
        out.stages[stage] += ns / window_ns_;
        claimed += ns / window_ns_;
      }
      out.lines.push_back(line(run, key, sum));
      for (const auto& [name, callee] : sum.callees) {
        out.callees.push_back({std::string(run.name(name)), callee.stage, out.lines.back().where,
                               callee.wall_ns / window_ns_, windows_ > 0 ? callee.count / windows_ : 0});
      }
      if (windows_ > 0) out.opens_per_window += sum.opens / windows_;
    }
    if (claimed < 1) out.stages[wire::Stage::kUserCode] += 1 - claimed;
    std::ranges::stable_sort(out.lines, std::ranges::greater{}, &ProfiledLine::share);
    std::ranges::stable_sort(out.callees, std::ranges::greater{}, &Callee::share);
    return out;
  }

 private:
  using Key = std::pair<wire::NameId, std::int32_t>;
  struct Flush {
    std::int64_t window_ns = 0;
    std::uint32_t windows = 0;
    std::int64_t time_ns = 0;
  };

  static void add(const wire::ProfileRecord& record, LineSum& sum) {
    const double wall = static_cast<double>(record.wall_ns);
    if (record.name == 0) {
      sum.wall_ns += wall;
      sum.count += record.count;
      sum.stage = record.stage;
    } else {
      sum.callees_ns += wall;
      sum.stages[record.stage] += wall;
      CalleeSum& callee = sum.callees[record.name];
      callee.wall_ns += wall;
      callee.count += record.count;
      callee.stage = record.stage;
      if (record.stage == wire::Stage::kOpen) sum.opens += record.count;
    }
  }

  ProfiledLine line(const record::Run& run, const Key& key, const LineSum& sum) const {
    ProfiledLine out;
    out.where = {std::string(run.name(key.first)), key.second, ""};
    out.share = std::max(sum.wall_ns, sum.callees_ns) / window_ns_;
    out.stage = sum.stage;
    double most = std::max(0.0, sum.wall_ns - sum.callees_ns);
    if (most > 0 && out.stage == wire::Stage::kUnspecified) out.stage = wire::Stage::kUserCode;
    for (const auto& [stage, ns] : sum.stages) {
      if (ns > most) most = ns, out.stage = stage;
    }
    double costliest = 0;
    for (const auto& [name, callee] : sum.callees) {
      if (callee.wall_ns > costliest) costliest = callee.wall_ns, out.callee = std::string(run.name(name));
    }
    if (windows_ > 0) out.per_window = sum.count / windows_;
    return out;
  }

  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, Flush> flushes_;
  std::map<Key, LineSum> lines_;
  double window_ns_ = 0;
  double windows_ = 0;
};

}  // namespace

std::string stage_name(wire::Stage stage) {
  switch (stage) {
    case wire::Stage::kUnspecified:
      return "";
    case wire::Stage::kOpen:
      return "open";
    case wire::Stage::kRead:
      return "read";
    case wire::Stage::kDecode:
      return "decode";
    case wire::Stage::kAugment:
      return "augment";
    case wire::Stage::kTokenise:
      return "tokenise";
    case wire::Stage::kConvert:
      return "convert";
    case wire::Stage::kCollate:
      return "collate";
    case wire::Stage::kUserCode:
      return "user_code";
    case wire::Stage::kWait:
      return "wait";
    case wire::Stage::kCopy:
      return "copy";
    case wire::Stage::kBlocking:
      return "blocking";
    case wire::Stage::kModel:
      return "model";
    case wire::Stage::kPause:
      return "pause";
  }
  return "";
}

double PlaceProfile::share(wire::Stage stage) const {
  const auto found = stages.find(stage);
  return found == stages.end() ? 0 : found->second;
}

wire::Stage PlaceProfile::main_stage() const {
  const auto most = std::ranges::max_element(stages, {}, [](const auto& entry) { return entry.second; });
  return most == stages.end() ? wire::Stage::kUnspecified : most->first;
}

const ProfiledLine* PlaceProfile::line_of(wire::Stage stage) const {
  const auto found = std::ranges::find(lines, stage, &ProfiledLine::stage);
  return found == lines.end() ? nullptr : &*found;
}

const Callee* PlaceProfile::callee_of(wire::Stage stage) const {
  const auto found = std::ranges::find(callees, stage, &Callee::stage);
  return found == callees.end() ? nullptr : &*found;
}

Profile read_profile(const record::Run& run, const Trainer& trainer) {
  PlaceSums dataset, collate, loop;
  const Ownership ownership(trainer);
  for (const auto& entry : trainer.rank->profile) {
    const bool own_process = entry.pid == trainer.pid;
    const bool ours = trainer.loop == LoopKind::kLoader ? ownership.owns(entry.pid, entry.record.loader) : own_process;
    if (entry.record.where == wire::Where::kLoop && own_process) loop.add(entry);
    if (entry.record.where == wire::Where::kDataset && ours) dataset.add(entry);
    if (entry.record.where == wire::Where::kCollate && ours) collate.add(entry);
  }
  return {dataset.result(run), collate.result(run), loop.result(run)};
}

}  // namespace fullbore::diagnose
