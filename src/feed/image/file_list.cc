#include "feed/image/file_list.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <optional>

#include "feed/image/list_table.h"

namespace fullbore::image {
namespace {

using base::Expected;

template <typename Number>
std::optional<Number> as(const std::string& text) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// The numbers of one column of labels: as they are, or places in the sorted names if one of them is no number.
std::vector<std::int64_t> to_labels(const ListColumn& column, std::vector<std::string>& classes) {
  const auto& texts = column.values;
  std::vector<std::int64_t> labels;
  labels.reserve(texts.size());
  if (std::ranges::all_of(texts, [](const std::string& text) { return as<std::int64_t>(text).has_value(); })) {
    for (const std::string& text : texts) labels.push_back(*as<std::int64_t>(text));
    return labels;
  }
  std::map<std::string, std::int64_t> numbers;
  for (const std::string& text : texts) numbers[text] = 0;
  for (auto& [name, number] : numbers) {
    number = static_cast<std::int64_t>(classes.size());
    classes.push_back(name);
  }
  for (const std::string& text : texts) labels.push_back(numbers[text]);
  return labels;
}

bool is_whole_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("-0123456789") == std::string::npos;
}

FieldValues to_values(ListColumn column) {
  auto& texts = column.values;
  const bool numbers = !column.is_text && std::ranges::any_of(texts, [](const std::string& text) {
    return !text.empty();
  }) && std::ranges::all_of(texts, [](const std::string& text) {
    // A whole number that 64 bits do not hold would lose digits: it stays a text.
    return text.empty() || (is_whole_number(text) ? as<std::int64_t>(text).has_value() : as<double>(text).has_value());
  });
  if (!numbers) return std::move(texts);
  if (std::ranges::all_of(texts, is_whole_number)) {
    std::vector<std::int64_t> values;
    values.reserve(texts.size());
    for (const std::string& text : texts) values.push_back(*as<std::int64_t>(text));
    return values;
  }
  std::vector<double> values;
  values.reserve(texts.size());
  for (const std::string& text : texts)
    values.push_back(as<double>(text).value_or(std::numeric_limits<double>::quiet_NaN()));
  return values;
}

Expected<void> check_columns(const ListTable& table, const ColumnOptions& wanted, const std::string& path) {
  const bool only_the_usual_label = wanted.labels.size() == 1 && wanted.labels.front() == "label";
  for (const ListColumn& column : table.labels) {
    if (!column.is_there && !only_the_usual_label)
      return base::fail(fmt::format("no column \"{}\" for a label in {}", column.name, path));
  }
  for (const ListColumn& column : table.fields) {
    if (!column.is_there) return base::fail(fmt::format("no column \"{}\" for a field in {}", column.name, path));
  }
  return {};
}

Catalogue to_catalogue(ListTable table, std::string root) {
  Catalogue catalogue(std::move(root), table.labels.size());
  std::vector<std::vector<std::int64_t>> columns;
  for (std::size_t i = 0; i < table.labels.size(); ++i) {
    std::vector<std::string> classes;
    columns.push_back(to_labels(table.labels[i], classes));
    catalogue.set_classes(std::move(classes), i);
  }
  std::vector<std::int64_t> labels(columns.size());
  for (std::size_t row = 0; row < table.paths.size(); ++row) {
    for (std::size_t i = 0; i < columns.size(); ++i) labels[i] = columns[i][row];
    catalogue.add(table.paths[row], labels);
  }
  for (ListColumn& column : table.fields) {
    std::string name = column.name;
    catalogue.add_field({std::move(name), to_values(std::move(column))});
  }
  return catalogue;
}

}  // namespace

bool is_file_list(const std::string& path) {
  return path.ends_with(".csv") || path.ends_with(".jsonl");
}

Expected<Catalogue> read_file_list(const std::string& path, const ColumnOptions& wanted) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return std::unexpected(base::Error::system(errno, "cannot read " + path));
  auto table = path.ends_with(".csv") ? read_csv_table(in, path, wanted) : read_jsonl_table(in, path, wanted);
  if (!table) return std::unexpected(table.error());
  if (table->paths.empty()) return base::fail("no picture in the list " + path);
  if (auto checked = check_columns(*table, wanted, path); !checked) return std::unexpected(checked.error());
  return to_catalogue(std::move(*table), std::filesystem::path(path).parent_path().string());
}

}  // namespace fullbore::image
