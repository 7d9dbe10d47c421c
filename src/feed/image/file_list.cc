#include "feed/image/file_list.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

namespace fullbore::image {
namespace {

using base::Expected;
using Json = nlohmann::json;

struct Row {
  std::string path, label;
};

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

Expected<std::vector<Row>> read_csv(std::istream& in, const std::string& list) {
  CsvReader reader(in);
  const auto header = reader.next().value_or(std::vector<std::string>());
  const auto column = [&](std::string_view name) {
    return static_cast<std::size_t>(std::ranges::find(header, name) - header.begin());
  };
  const std::size_t path = column("path"), label = column("label");
  if (path == header.size()) return bad_line(list, 1, "no column \"path\"; the first line names the columns");
  std::vector<Row> rows;
  while (const auto fields = reader.next()) {
    if (fields->size() == 1 && fields->front().empty()) continue;
    if (fields->size() != header.size())
      return bad_line(list, reader.line(),
                      fmt::format("{} fields where the first line has {}", fields->size(), header.size()));
    rows.push_back({(*fields)[path], label < header.size() ? (*fields)[label] : "-1"});
    if (rows.back().path.empty()) return bad_line(list, reader.line(), "an empty path");
  }
  return rows;
}

Expected<std::vector<Row>> read_jsonl(std::istream& in, const std::string& list) {
  std::vector<Row> rows;
  std::string text;
  for (std::uint64_t line = 1; std::getline(in, text); ++line) {
    if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
    const Json object = Json::parse(text, nullptr, false);
    if (!object.is_object()) return bad_line(list, line, "not a JSON object");
    const auto path = object.find("path"), label = object.find("label");
    if (path == object.end() || !path->is_string() || path->get_ref<const std::string&>().empty())
      return bad_line(list, line, "no \"path\" with a text");
    if (label == object.end() || label->is_null()) {
      rows.push_back({path->get<std::string>(), "-1"});
    } else if (label->is_string()) {
      rows.push_back({path->get<std::string>(), label->get<std::string>()});
    } else if (label->is_number_integer()) {
      rows.push_back({path->get<std::string>(), label->dump()});
    } else {
      return bad_line(list, line, "a \"label\" that is neither a whole number nor a text");
    }
  }
  return rows;
}

std::optional<std::int64_t> as_number(const std::string& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

Catalogue to_catalogue(const std::vector<Row>& rows, std::string root) {
  Catalogue catalogue(std::move(root));
  if (std::ranges::all_of(rows, [](const Row& row) { return as_number(row.label).has_value(); })) {
    for (const Row& row : rows) catalogue.add(row.path, *as_number(row.label));
    return catalogue;
  }
  std::map<std::string, std::int64_t> numbers;
  for (const Row& row : rows) numbers[row.label] = 0;
  std::vector<std::string> classes;
  for (auto& [name, number] : numbers) {
    number = static_cast<std::int64_t>(classes.size());
    classes.push_back(name);
  }
  for (const Row& row : rows) catalogue.add(row.path, numbers[row.label]);
  catalogue.set_classes(std::move(classes));
  return catalogue;
}

}  // namespace

bool is_file_list(const std::string& path) {
  return path.ends_with(".csv") || path.ends_with(".jsonl");
}

Expected<Catalogue> read_file_list(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return std::unexpected(base::Error::system(errno, "cannot read " + path));
  auto rows = path.ends_with(".csv") ? read_csv(in, path) : read_jsonl(in, path);
  if (!rows) return std::unexpected(rows.error());
  if (rows->empty()) return base::fail("no picture in the list " + path);
  return to_catalogue(*rows, std::filesystem::path(path).parent_path().string());
}

}  // namespace fullbore::image
