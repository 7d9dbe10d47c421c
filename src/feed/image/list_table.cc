#include "feed/image/list_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

namespace fullbore::image {
namespace {

using base::Expected;
using Json = nlohmann::json;

constexpr std::string_view kPath = "path";
constexpr int kNoLabel = -1;

std::unexpected<base::Error> bad_line(const std::string& list, std::uint64_t line, std::string_view why) {
  return base::fail(fmt::format("{}:{}: {}", list, line, why));
}

// One record of RFC 4180; a quoted field may hold line ends. Empty at the end of the file.
class CsvReader {
 public:
  explicit CsvReader(std::istream& in) : in_(in) {}

  // The number of the line that the record began at.
  std::uint64_t line() const { return line_; }

  std::optional<std::vector<std::string>> next() {
    std::string text;
    line_ = following_;
    if (!read(text)) return std::nullopt;
    std::vector<std::string> fields(1);
    bool quoted = false;
    for (std::size_t i = 0;; ++i) {
      if (i == text.size()) {
        if (!quoted || !read(text)) return fields;
        fields.back() += '\n';
        i = static_cast<std::size_t>(-1);
      } else if (quoted) {
        if (text[i] != '"') {
          fields.back() += text[i];
        } else if (i + 1 < text.size() && text[i + 1] == '"') {
          fields.back() += text[i++];
        } else {
          quoted = false;
        }
      } else if (text[i] == ',') {
        fields.emplace_back();
      } else if (text[i] == '"' && fields.back().empty()) {
        quoted = true;
      } else {
        fields.back() += text[i];
      }
    }
  }

 private:
  bool read(std::string& text) {
    if (!std::getline(in_, text)) return false;
    ++following_;
    if (text.ends_with('\r')) text.pop_back();
    return true;
  }

  std::istream& in_;
  std::uint64_t line_ = 1, following_ = 1;
};

ListTable empty_table(const ColumnOptions& wanted) {
  ListTable table;
  for (const std::string& name : wanted.labels) table.labels.push_back({name, {}});
  if (wanted.all_fields) return table;
  for (const std::string& name : wanted.fields) table.fields.push_back({name, {}});
  return table;
}

bool has_label(const ListTable& table, std::string_view name) {
  return std::ranges::find(table.labels, name, &ListColumn::name) != table.labels.end();
}

// A JSON value as a text: numbers as they are, true as 1, null as nothing, lists and objects as JSON.
void append(ListColumn& column, const Json& value) {
  if (value.is_string()) {
    column.is_text = true;
    column.values.push_back(value.get<std::string>());
  } else if (value.is_boolean()) {
    column.values.emplace_back(value.get<bool>() ? "1" : "0");
  } else {
    column.is_text = column.is_text || value.is_structured();
    column.values.push_back(value.is_null() ? std::string() : value.dump());
  }
}

// Adds columns that `object` is the first to have.
void add_new_fields(ListTable& table, const Json& object) {
  for (const auto& [name, value] : object.items()) {
    if (name == kPath || has_label(table, name)) continue;
    if (std::ranges::find(table.fields, name, &ListColumn::name) != table.fields.end()) continue;
    table.fields.push_back({name, std::vector<std::string>(table.paths.size())});
  }
}

}  // namespace

Expected<ListTable> read_csv_table(std::istream& in, const std::string& list, const ColumnOptions& wanted) {
  CsvReader reader(in);
  const auto header = reader.next().value_or(std::vector<std::string>());
  const auto place_of = [&](std::string_view name) {
    return static_cast<std::size_t>(std::ranges::find(header, name) - header.begin());
  };
  const std::size_t path = place_of(kPath);
  if (path == header.size()) return bad_line(list, 1, "no column \"path\"; the first line names the columns");
  ListTable table = empty_table(wanted);
  for (const std::string& name : header) {
    if (wanted.all_fields && name != kPath && !has_label(table, name)) table.fields.push_back({name, {}});
  }
  std::vector<std::pair<ListColumn*, std::size_t>> places;
  for (auto* columns : {&table.labels, &table.fields}) {
    for (ListColumn& column : *columns) {
      const std::size_t place = place_of(column.name);
      column.is_there = place < header.size();
      if (column.is_there) places.emplace_back(&column, place);
    }
  }
  while (const auto fields = reader.next()) {
    if (fields->size() == 1 && fields->front().empty()) continue;
    if (fields->size() != header.size())
      return bad_line(list, reader.line(),
                      fmt::format("{} fields where the first line has {}", fields->size(), header.size()));
    if ((*fields)[path].empty()) return bad_line(list, reader.line(), "an empty path");
    for (const auto& [column, place] : places) column->values.push_back((*fields)[place]);
    table.paths.push_back((*fields)[path]);
  }
  for (ListColumn& column : table.labels) {
    if (!column.is_there) column.values.assign(table.paths.size(), std::to_string(kNoLabel));
  }
  return table;
}

Expected<ListTable> read_jsonl_table(std::istream& in, const std::string& list, const ColumnOptions& wanted) {
  ListTable table = empty_table(wanted);
  std::string text;
  for (std::uint64_t line = 1; std::getline(in, text); ++line) {
    if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
    const Json object = Json::parse(text, nullptr, false);
    if (!object.is_object()) return bad_line(list, line, "not a JSON object");
    const auto path = object.find(kPath);
    if (path == object.end() || !path->is_string() || path->get_ref<const std::string&>().empty())
      return bad_line(list, line, "no \"path\" with a text");
    if (wanted.all_fields) add_new_fields(table, object);
    for (ListColumn& column : table.labels) {
      const Json label = object.value(column.name, Json());
      if (!label.is_null() && !label.is_string() && !label.is_number_integer())
        return bad_line(list, line, fmt::format("a \"{}\" that is neither a whole number nor a text", column.name));
      append(column, label.is_null() ? Json(kNoLabel) : label);
    }
    for (ListColumn& column : table.fields) append(column, object.value(column.name, Json()));
    for (auto* columns : {&table.labels, &table.fields}) {
      for (ListColumn& column : *columns) column.is_there = column.is_there || object.contains(column.name);
    }
    table.paths.push_back(path->get<std::string>());
  }
  return table;
}

}  // namespace fullbore::image
