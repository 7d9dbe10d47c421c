// A folder with one folder of pictures per class, as torchvision.datasets.ImageFolder reads it: the same classes, the
// same files, the same order, so that labels and sample numbers mean what they meant before.
#pragma once

#include "base/error.h"
#include "feed/image/catalogue.h"

namespace fullbore::image {

// Symbolic links are followed, as there; one that leads back to a folder above it is an error. Names are ordered by
// their bytes, which is Python's order for all that is UTF-8. Lists with up to `threads` threads.
base::Expected<Catalogue> list_image_folder(const std::string& root, int threads);

}  // namespace fullbore::image
