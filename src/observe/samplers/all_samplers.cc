#include "observe/samplers/all_samplers.h"

#include "observe/samplers/cgroup.h"
#include "observe/samplers/cpu.h"
#include "observe/samplers/disk.h"
#include "observe/samplers/gpu_sampler.h"
#include "observe/samplers/memory.h"
#include "observe/samplers/numa.h"
#include "observe/samplers/pressure.h"
#include "observe/samplers/process.h"
#include "observe/samplers/process_limits.h"
#include "observe/samplers/shm.h"
#include "observe/samplers/tree_io.h"

namespace fullbore::observe {

std::vector<std::unique_ptr<Sampler>> make_samplers(const base::FileReader& files) {
  std::vector<std::unique_ptr<Sampler>> samplers;
  samplers.push_back(std::make_unique<CpuSampler>(files));
  samplers.push_back(std::make_unique<ProcessSampler>(files));
  samplers.push_back(std::make_unique<TreeIoSampler>(files));
  samplers.push_back(std::make_unique<DiskSampler>(files));
  samplers.push_back(std::make_unique<CgroupSampler>(files));
  samplers.push_back(std::make_unique<PressureSampler>(files));
  samplers.push_back(std::make_unique<MemorySampler>(files));
  samplers.push_back(std::make_unique<ShmSampler>(files));
  samplers.push_back(std::make_unique<ProcessLimitsSampler>(files));
  samplers.push_back(std::make_unique<NumaSampler>(files));
  samplers.push_back(std::make_unique<GpuSampler>(files, [] { return gpu::Nvml::open(); }));
  return samplers;
}

}  // namespace fullbore::observe
