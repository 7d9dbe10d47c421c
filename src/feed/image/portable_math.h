// exp and log by basic operations only: those of the C library differ in the last bit from one processor to another,
// and what is drawn for a sample must not.
#pragma once

namespace fullbore::image {

double portable_exp(double x);
// Of a positive number.
double portable_log(double x);

}  // namespace fullbore::image
