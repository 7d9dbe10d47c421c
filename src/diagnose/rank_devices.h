// Which GPU belongs to which rank, and whether one of them is slower than the others at the same work: all ranks then
// wait for it, and the wait shows everywhere but there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "diagnose/diagnosis.h"
#include "diagnose/situation.h"

namespace fullbore::diagnose {

struct RankDevice {
  int rank = 0;
  std::uint32_t pid = 0;  // a rank may have several trainers
  std::string pci_bus_id, name;
  double kernels = 0;              // per step
  double compute_ms = 0;           // per step, collectives left out: they last until the slowest rank comes
  std::optional<double> gb_per_s;  // of the kind of memory that most is copied from
  std::optional<double> clock_mhz, link_generation, link_width;
};

// Of the trainers whose GPU was traced and is known by its PCI bus id, in the order given.
std::vector<RankDevice> rank_devices(const std::vector<const Situation*>& trainers);

// A sentence about the one device that is slower than all others at the same work, by its kernels or by its copies;
// nullopt where there is none, or fewer than two to compare.
std::optional<std::string> slower_device(const std::vector<RankDevice>& devices);

// As facts of a run with several trainers: "gpu rank 0 (pid 100)", ..., and "slower gpu".
void describe_rank_devices(const std::vector<const Situation*>& trainers, Diagnosis& out);

}  // namespace fullbore::diagnose
