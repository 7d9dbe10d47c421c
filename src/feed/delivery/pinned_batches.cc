#include "feed/delivery/pinned_batches.h"

#include "gpu/pinned_buffer.h"

namespace fullbore::feed {

image::BatchMemory pinned_batches(std::shared_ptr<const gpu::Device> device, std::size_t batches) {
  const auto allocate = [device = std::move(device)](std::size_t bytes) -> image::Expected<std::shared_ptr<std::byte>> {
    auto buffer = gpu::PinnedBuffer::allocate(device, bytes);
    if (!buffer) {
      return std::unexpected(image::Error{buffer.error().message() +
                                          "; page-locked memory counts against the memory limit of the container: use "
                                          "a smaller depth or batch, or close other loaders"});
    }
    const auto owner = std::make_shared<gpu::PinnedBuffer>(std::move(*buffer));
    return std::shared_ptr<std::byte>(owner, owner->bytes().data());
  };
  return {allocate, batches};
}

}  // namespace fullbore::feed
