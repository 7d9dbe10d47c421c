#include "cli/source_text.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

namespace fullbore::cli {
namespace {

using Json = nlohmann::ordered_json;

// A generated or minified script has lines that nobody reads.
constexpr std::size_t kLongestLine = 500;

// Of all lines that a report shows with their text.
std::vector<diagnose::Location*> locations_of(diagnose::Diagnosis& d) {
  std::vector<diagnose::Location*> found;
  for (auto* lines : {&d.loop_lines, &d.dataset_lines}) {
    for (diagnose::LineTime& line : *lines) found.push_back(&line.where);
  }
  for (diagnose::Cause& cause : d.causes) {
    if (cause.where) found.push_back(&*cause.where);
  }
  return found;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, std::min(end - at, kLongestLine)));
    at = end + 1;
  }
  return lines;
}

}  // namespace

std::string source_json(const diagnose::Diagnosis& diagnosis, const base::FileReader& files,
                        const std::map<std::string, std::string>& cells) {
  diagnose::Diagnosis copy = diagnosis;
  std::map<std::string, std::vector<std::string>> sources;
  Json json = Json::object();
  for (const diagnose::Location* where : locations_of(copy)) {
    if (where->file.empty() || where->line <= 0) continue;
    const auto [source, is_new] = sources.try_emplace(where->file);
    if (is_new) {
      const auto cell = cells.find(where->file);
      source->second = lines_of(cell != cells.end() ? cell->second : files.read(where->file).value_or(""));
    }
    const auto line = static_cast<std::size_t>(where->line);
    if (line <= source->second.size()) json[where->file][std::to_string(line)] = source->second[line - 1];
  }
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

void add_source_text(diagnose::Diagnosis& diagnosis, const std::string& source_json) {
  const Json json = Json::parse(source_json, nullptr, false);
  if (!json.is_object()) return;
  for (diagnose::Location* where : locations_of(diagnosis)) {
    const auto file = json.find(where->file);
    if (!where->code.empty() || file == json.end() || !file->is_object()) continue;
    const auto line = file->find(std::to_string(where->line));
    if (line != file->end() && line->is_string()) where->code = line->get<std::string>();
  }
}

}  // namespace fullbore::cli
