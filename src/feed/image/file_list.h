// A list of pictures in a file: csv with a header, or one JSON object per line. Columns `path` and `label` are taken.
#pragma once

#include "base/error.h"
#include "feed/image/catalogue.h"

namespace fullbore::image {

// By the end of the name: .csv or .jsonl. Relative paths start at the list's own folder. Labels are numbers, or names
// if one of them is no number: then classes are these names in their order. Without labels each is -1.
base::Expected<Catalogue> read_file_list(const std::string& path);

bool is_file_list(const std::string& path);

}  // namespace fullbore::image
