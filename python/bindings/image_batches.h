// What Python holds of an image loader: shared by the files that bind the loader and its delivery to a device.
#pragma once

#include <memory>

#include "fullbore/image_loader.h"

namespace fullbore::bindings {

struct Loader {
  std::unique_ptr<image::ImageLoader> loader;
  image::TransformOptions transform;
};

// A batch, and what its bytes are.
struct LoadedBatch {
  image::Batch batch;
  image::Size size;
  image::TransformOptions transform;
};

}  // namespace fullbore::bindings
