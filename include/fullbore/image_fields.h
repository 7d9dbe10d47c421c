// What a list of files says of its pictures: columns for labels, and fields that are handed out with a batch.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace fullbore::image {

// Which columns of a file list are taken besides the path.
struct ColumnOptions {
  std::vector<std::string> labels = {"label"};  // -1 for each sample if the list has no column of this name alone
  std::vector<std::string> fields = {};
  bool all_fields = false;  // every column that is no label
};

// Of some samples: whole numbers, numbers (NaN where a line has none), or texts.
using FieldValues = std::variant<std::vector<std::int64_t>, std::vector<double>, std::vector<std::string>>;

}  // namespace fullbore::image
