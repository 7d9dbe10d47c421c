// Everything measured about one trainer: what each cause is a function of. Built once, read by all.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diagnose/account.h"
#include "diagnose/diagnosis.h"
#include "diagnose/gpu_account.h"
#include "diagnose/gpu_evidence.h"
#include "diagnose/iterations.h"
#include "diagnose/makers.h"
#include "diagnose/passes.h"
#include "diagnose/profile.h"
#include "diagnose/replay/calibration.h"
#include "diagnose/resources.h"
#include "diagnose/step_times.h"
#include "diagnose/trainer.h"
#include "diagnose/wait_walk.h"

namespace fullbore::diagnose {

struct Situation {
  const record::Run* run = nullptr;
  const Trainer* trainer = nullptr;
  Iterations iterations;
  std::vector<Stretch> stretches;
  Accounted steady, whole;
  Makers makers;
  WaitWalk walk;
  std::vector<Pass> passes;
  Profile profile;
  LoaderFacts loader;
  Resources resources;
  Steps steps;
  Halves halves;
  bool wait_known = false;
  bool gpu = false;                       // the model's parameters lie on a CUDA device
  std::optional<GpuEvidence> device;      // nullopt: nothing was traced
  std::optional<DeviceSplit> on_device;   // of the same
  std::vector<InputWaitPart> wait_parts;  // of the steady step, largest first
  replay::Calibration replay;             // of the loader as it was

  double step_ms() const;
  // The wait for input, of the steady step. What the device did not notice of it, because it still had work queued,
  // costs nothing and is not in it; `loop_wait_share` has it all.
  double wait_ms() const;
  double wait_share() const;
  double loop_wait_share() const;
  double hidden_wait_ms() const;
  // What `ns` of the device or the link in the trace windows, per iteration, is of the steady step; 0 without windows.
  double device_share(double ns) const;
  // `part` of on_device->body, of the steady step; 0 without windows.
  double device_part(double DeviceBody::* part) const;
  // Share of the wait in which batches were being made (samples and collating), 0..1.
  double making_share() const;
  // Share of the loop body (the step without the wait) that lines of this stage take, 0..1; nullopt if no line was
  // timed.
  std::optional<double> of_body(wire::Stage stage) const;
  // What takes most of making a batch as far as it was waited for: "decode", ..., "collate"; "" if stages are not
  // known.
  std::string stage() const;
  // The stage of making a batch that costs most, whatever the loop happens to meet: with all cores busy, that is what
  // is worth making cheaper. stage() where samples were not traced.
  std::string costliest_stage() const;
  // Share of a stage in the wait, 0..1.
  double stage_share(const std::string& what) const;
  // The user's line that costs most in that stage; nullptr if lines were not timed.
  const ProfiledLine* stage_line(const std::string& what) const;
};

Situation assess(const record::Run& run, const Trainer& trainer);

}  // namespace fullbore::diagnose
