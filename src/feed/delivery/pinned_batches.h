// Page-locked memory for the batches of an image loader: threads decode into it, the device copies from it.
#pragma once

#include "fullbore/image_loader.h"
#include "gpu/device.h"

namespace fullbore::feed {

// For LoaderOptions::memory. `batches` of them are locked when the loader is opened, about 0.55 s per GiB.
image::BatchMemory pinned_batches(std::shared_ptr<const gpu::Device> device, std::size_t batches);

}  // namespace fullbore::feed
