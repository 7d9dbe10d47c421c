// A file list as texts: csv with a header, or one JSON object per line; the columns that are taken, and no others.
#pragma once

#include <istream>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "fullbore/image_fields.h"

namespace fullbore::image {

struct ListColumn {
  std::string name;
  std::vector<std::string> values;  // one for each path; empty where a line has none
  bool is_text = false;             // of JSON: some value is a text, whatever it looks like
  bool is_there = false;            // the list has it
};

struct ListTable {
  std::vector<std::string> paths;
  std::vector<ListColumn> labels, fields;
};

// `list` is its name, for errors, which also name the line.
base::Expected<ListTable> read_csv_table(std::istream& in, const std::string& list, const ColumnOptions& wanted);
base::Expected<ListTable> read_jsonl_table(std::istream& in, const std::string& list, const ColumnOptions& wanted);

}  // namespace fullbore::image
