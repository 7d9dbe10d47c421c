// The one list of what is sampled. A new source is a new file and one line in it.
#pragma once

#include <memory>
#include <vector>

#include "base/file_reader.h"
#include "observe/sampler.h"

namespace fullbore::observe {

// `files` must outlive the samplers.
std::vector<std::unique_ptr<Sampler>> make_samplers(const base::FileReader& files);

}  // namespace fullbore::observe
