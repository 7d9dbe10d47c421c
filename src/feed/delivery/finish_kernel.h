// The last step of a batch on a device: from 8-bit RGB pixels to the type and layout that a model takes, in one launch.
// Its values are those of the processor to the last bit, because they are looked up in a table that this one makes.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "fullbore/image_loader.h"
#include "gpu/kernel.h"

namespace fullbore::feed {

// The bits of what image::finish() makes of each of 256 values, for red, then for green and for blue.
using FinishTable = std::array<std::uint32_t, 768>;
FinishTable make_finish_table(const image::TransformOptions& transform);

// Of one type and layout.
class FinishKernel {
 public:
  // 8-bit pixels in rows of RGB are what decoding gives.
  static bool is_needed(const image::TransformOptions& transform);
  // Queues the copy of its table to `table`, which has sizeof(FinishTable) bytes and stays.
  static base::Expected<FinishKernel> load(const std::shared_ptr<const gpu::Device>& device, const char* ptx,
                                           const image::TransformOptions& transform, gpu::DeviceAddress table,
                                           gpu::StreamHandle stream);

  // Queues [samples, pixels, 3] bytes at `pixels_in`, on a 4-byte boundary, to values at `out`, on a 16-byte one.
  base::Expected<void> launch(gpu::DeviceAddress in, gpu::DeviceAddress out, std::size_t samples, std::size_t pixels,
                              gpu::StreamHandle stream) const;

 private:
  FinishKernel(gpu::Kernel kernel, const image::TransformOptions& transform, gpu::DeviceAddress table);

  gpu::Kernel kernel_;
  gpu::DeviceAddress table_;
  std::uint32_t value_bytes_;
  std::uint32_t planes_;
};

}  // namespace fullbore::feed
