#include "feed/delivery/finish_kernel.h"

#include <cstring>

#include "feed/image/finish.h"
#include "gpu/kernels/finish_ptx.h"
#include "gpu/pinned_buffer.h"

namespace fullbore::feed {

using base::Expected;
using image::DType;
using image::Layout;

namespace {

constexpr unsigned kThreads = 256;

}  // namespace

FinishTable make_finish_table(const image::TransformOptions& transform) {
  constexpr std::size_t kValues = 256;
  std::array<std::uint8_t, 3 * kValues> rgb;
  for (std::size_t i = 0; i < rgb.size(); ++i) rgb[i] = static_cast<std::uint8_t>(i / 3);
  image::TransformOptions in_rows = transform;
  in_rows.layout = Layout::kNhwc;
  std::array<std::byte, 3 * kValues * sizeof(std::uint32_t)> made;
  image::finish(rgb.data(), kValues, in_rows, made.data());
  const std::size_t bytes = image::bytes_per_value(transform.dtype);
  FinishTable table{};
  for (std::size_t i = 0; i < rgb.size(); ++i)
    std::memcpy(&table[i % 3 * kValues + i / 3], made.data() + i * bytes, bytes);  // little-endian, as all we run on
  return table;
}

bool FinishKernel::is_needed(const image::TransformOptions& transform) {
  return transform.dtype != DType::kUint8 || transform.layout != Layout::kNhwc;
}

FinishKernel::FinishKernel(gpu::Kernel kernel, const image::TransformOptions& transform, gpu::DeviceAddress table)
    : kernel_(std::move(kernel)),
      table_(table),
      value_bytes_(static_cast<std::uint32_t>(image::bytes_per_value(transform.dtype))),
      planes_(transform.layout == Layout::kNchw ? 1 : 0) {}

Expected<FinishKernel> FinishKernel::load(const std::shared_ptr<const gpu::Device>& device, const char* ptx,
                                          const image::TransformOptions& transform, gpu::DeviceAddress table,
                                          gpu::StreamHandle stream) {
  if (*ptx == 0) return base::fail("this build of fullbore has no kernels; build it where clang-19 is installed");
  auto kernel = gpu::Kernel::load(device, ptx, gpu::kFinishName);
  if (!kernel) return std::unexpected(kernel.error());
  const gpu::ContextScope scope(*device);
  const FinishTable made = make_finish_table(transform);  // pageable: the driver has read it when the call returns
  auto copied = gpu::copy_to_device(*device, table, made.data(), sizeof(made), stream);
  if (!copied) return std::unexpected(copied.error());
  return FinishKernel(std::move(*kernel), transform, table);
}

Expected<void> FinishKernel::launch(gpu::DeviceAddress in, gpu::DeviceAddress out, std::size_t samples,
                                    std::size_t pixels, gpu::StreamHandle stream) const {
  const std::size_t each = pixels % 4 == 0 ? 4 : 1;  // as the kernel has it
  const std::size_t blocks = (samples * pixels / each + kThreads - 1) / kThreads;
  gpu::DeviceAddress table = table_;
  std::uint32_t value_bytes = value_bytes_, planes = planes_;
  void* arguments[] = {&in, &out, &table, &samples, &pixels, &value_bytes, &planes};
  return kernel_.launch(stream, static_cast<unsigned>(blocks), kThreads, arguments);
}

}  // namespace fullbore::feed
