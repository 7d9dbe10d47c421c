// Whether all coefficients are such that an encoder could have made them. Beyond that the 16-bit steps of different
// implementations of one transform (libjpeg-turbo's own C and vector code among them) part ways.
#pragma once

#include "feed/jpeg/markers.h"

bool coefficients_in_range(fullbore::jpeg::FileBytes file);
