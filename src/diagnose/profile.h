// Source lines and their callees, as sampled in traced windows: what share of a sample, of collating and of the
// training loop each takes. Only shares are used: traced time itself is slower than life.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "diagnose/diagnosis.h"
#include "diagnose/trainer.h"

namespace fullbore::diagnose {

// "decode", "open", ...; "" for kUnspecified and numbers written by a newer hook.
std::string stage_name(wire::Stage stage);

struct ProfiledLine {
  Location where;
  double share = 0;  // of the place's traced time, callees included
  wire::Stage stage = wire::Stage::kUnspecified;
  std::string callee;     // the most expensive one, "" if none
  double per_window = 0;  // executions per sample (or iteration)
};

// Something called from a line that has a stage: a decoder, a blocking read, a write.
struct Callee {
  std::string name;
  wire::Stage stage = wire::Stage::kUnspecified;
  Location where;         // the user's line that calls it
  double share = 0;       // of the place's traced time
  double per_window = 0;  // calls per sample (or iteration)
};

// One place: all samples of a loader, all its collating, or the loop.
struct PlaceProfile {
  double window_ns = 0;
  double windows = 0;
  std::map<wire::Stage, double> stages;  // share by stage; what no callee claims is user_code
  double opens_per_window = 0;           // calls that open, stat or list, per sample
  std::vector<ProfiledLine> lines;       // most expensive first
  std::vector<Callee> callees;           // most expensive first

  bool measured() const { return window_ns > 0; }
  double share(wire::Stage stage) const;
  // The stage that takes most, kUnspecified if nothing was measured.
  wire::Stage main_stage() const;
  // The most expensive line of that stage, or nullptr.
  const ProfiledLine* line_of(wire::Stage stage) const;
  // The most expensive callee of that stage, or nullptr.
  const Callee* callee_of(wire::Stage stage) const;
};

struct Profile {
  PlaceProfile dataset, collate, loop;
};

Profile read_profile(const record::Run& run, const Trainer& trainer);

}  // namespace fullbore::diagnose
