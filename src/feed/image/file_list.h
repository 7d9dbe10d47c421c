// A list of pictures in a file: csv with a header, or one JSON object per line.
#pragma once

#include "base/error.h"
#include "feed/image/catalogue.h"

namespace fullbore::image {

// By the end of the name: .csv or .jsonl. Relative paths start at the list's own folder. Labels are numbers, or names
// if one of them is no number: then classes are these names in their order. Without labels each is -1.
// A field is numbers if all of its values are, with NaN where a line has none, and else texts.
base::Expected<Catalogue> read_file_list(const std::string& path, const ColumnOptions& wanted = {});

bool is_file_list(const std::string& path);

}  // namespace fullbore::image
