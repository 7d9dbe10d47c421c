// The GPUs that the command may use, as the driver's management library and their performance monitors see them.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_reader.h"
#include "gpu/nvml.h"
#include "observe/sampler.h"

namespace fullbore::observe {

// Which of `devices` a process with this CUDA_VISIBLE_DEVICES sees; nullptr: it is not set. Numbers count in the order
// of PCI bus ids; a name may be the beginning of a UUID; what follows an unknown entry is invisible, as CUDA has it.
std::vector<std::size_t> visible_devices(const std::vector<gpu::GpuInfo>& devices, const std::string* visible);

class GpuSampler final : public Sampler {
 public:
  using Open = std::function<base::Expected<std::unique_ptr<gpu::Nvml>>()>;

  // `open` is called once, and only where there is an NVIDIA driver.
  GpuSampler(const base::FileReader& files, Open open) : files_(files), open_(std::move(open)) {}
  std::string_view name() const override { return "gpu"; }
  // A performance monitor wants at least 100 ms; reading it takes up to 5 ms.
  std::int64_t period_ns() const override { return 500'000'000; }
  void sample(const ProcessTree& tree, std::int64_t now_ns, Readings& out) override;

 private:
  // What the reasons of the moment add up to.
  struct Throttling {
    std::int64_t last_ns = 0;
    std::array<double, gpu::kThrottleReasons> s = {};
  };

  void start(const ProcessTree& tree, Readings& out);
  void report(const gpu::GpuSample& sample, const std::string& label, const ProcessTree& tree, Readings& out);

  static void report_throttling(const gpu::GpuSample& sample, const std::string& label, std::int64_t now_ns,
                                Throttling& known, Readings& out);

  const base::FileReader& files_;
  Open open_;
  bool started_ = false;
  std::unique_ptr<gpu::Nvml> nvml_;
  std::vector<std::size_t> watched_;
  std::map<std::size_t, Throttling> throttling_;
};

}  // namespace fullbore::observe
