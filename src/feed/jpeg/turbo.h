// Decoding by libjpeg-turbo, for the pictures that the own decoder does not serve and for tolerant decoding of damaged
// ones.
#pragma once

#include "feed/jpeg/markers.h"

namespace fullbore::jpeg {

// The whole picture, RGB or CMYK. Its warnings are errors unless `tolerant`.
Expected<Picture> decode_by_turbo(FileBytes file, bool tolerant);

}  // namespace fullbore::jpeg
