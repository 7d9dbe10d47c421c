#include "diagnose/code_diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <string_view>

#include "diagnose/python_call.h"

namespace fullbore::diagnose {
namespace {

// torch.utils.data.DataLoader takes these by position too, since 1.0; prefetch_factor and persistent_workers never.
constexpr std::array<std::string_view, 8> kPositional = {"dataset",       "batch_size",  "shuffle",    "sampler",
                                                         "batch_sampler", "num_workers", "collate_fn", "pin_memory"};
// Where a continued line is broken once more rather than made longer.
constexpr std::size_t kLineLimit = 100;

struct Edit {
  std::size_t at;
  std::size_t remove;
  std::string insert;
};

enum class Place { kFound, kAbsent, kUnsafe };

struct Lookup {
  Place place;
  const CallArgument* argument = nullptr;
};

Lookup find_argument(const PythonCall& call, const std::string& name) {
  std::size_t position = 0;
  bool hidden_by_position = false;
  bool hidden_by_keyword = false;
  const auto* index = std::ranges::find(kPositional, name);
  for (const CallArgument& argument : call.arguments) {
    if (argument.keyword == name) return {Place::kFound, &argument};
    if (argument.stars == 2) hidden_by_keyword = true;
    if (argument.stars == 1) hidden_by_position = true;
    if (argument.stars == 0 && argument.keyword.empty()) {
      const bool is_it = index != kPositional.end() && kPositional.begin() + position == index;
      // A subclass may order its parameters differently.
      if (is_it) return {hidden_by_position || call.callee != "DataLoader" ? Place::kUnsafe : Place::kFound, &argument};
      ++position;
    }
  }
  const bool may_hide = hidden_by_keyword || (hidden_by_position && index != kPositional.end());
  return {may_hide ? Place::kUnsafe : Place::kAbsent};
}

std::size_t line_begin(std::string_view code, std::size_t at) {
  const std::size_t newline = at == 0 ? std::string_view::npos : code.rfind('\n', at - 1);
  return newline == std::string_view::npos ? 0 : newline + 1;
}

// Before "\n" or "\r\n".
std::size_t line_end(std::string_view code, std::size_t at) {
  std::size_t end = std::min(code.find('\n', at), code.size());
  return end > at && code[end - 1] == '\r' ? end - 1 : end;
}

std::string_view indentation(std::string_view code, std::size_t begin) {
  return code.substr(begin, code.find_first_not_of(" \t", begin) - begin);
}

std::string joined(const std::vector<std::string>& parts, std::string_view separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

// Edits that add keyword arguments after the last one: a line each where the last has a line to itself, else beside it.
std::vector<Edit> add_arguments(std::string_view code, const PythonCall& call, const std::vector<std::string>& added) {
  if (call.arguments.empty()) return {{call.open + 1, 0, joined(added, ", ")}};
  const CallArgument& last = call.arguments.back();
  const std::size_t after = call.trailing_comma ? *call.trailing_comma + 1 : last.end;
  const std::size_t begin = line_begin(code, last.begin);
  const std::string_view indent = indentation(code, begin);
  const bool is_continued = begin > call.open;
  const bool own_line = is_continued && begin + indent.size() == last.begin;
  const std::size_t length = line_end(code, after) - begin + joined(added, ", ").size() + 2;
  const std::string_view comma = call.trailing_comma ? "," : "";
  if (!own_line && !(is_continued && length > kLineLimit)) {
    return call.trailing_comma ? std::vector<Edit>{{after, 0, " " + joined(added, ", ") + ","}}
                               : std::vector<Edit>{{after, 0, ", " + joined(added, ", ")}};
  }
  const std::string eol = code.find("\r\n") == std::string_view::npos ? "\n" : "\r\n";
  const std::string start = eol + std::string(indent);
  const std::string lines = start + joined(added, "," + start) + std::string(comma);
  const std::size_t end = line_end(code, after);
  std::vector<Edit> edits;
  if (!call.trailing_comma) edits.push_back({after, 0, ","});
  // With the bracket on the same line the new ones go before it, otherwise after a comment that belongs to the last.
  edits.push_back({call.close > end ? end : after, 0, lines});
  return edits;
}

std::string applied(std::string code, std::vector<Edit> edits) {
  std::ranges::stable_sort(edits, {}, &Edit::at);
  for (std::size_t i = edits.size(); i-- > 0;) code.replace(edits[i].at, edits[i].remove, edits[i].insert);
  return code;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

// Edits change or add lines and never move one past another, so looking ahead for the same text finds what was kept.
std::string unified(const CallSource& call, std::string_view before, std::string_view after) {
  const auto old_lines = lines_of(before);
  const auto new_lines = lines_of(after);
  std::string body;
  std::size_t next = 0;
  for (const std::string_view line : old_lines) {
    const auto kept = std::find(new_lines.begin() + static_cast<std::ptrdiff_t>(next), new_lines.end(), line);
    if (kept == new_lines.end()) {
      body += fmt::format("-{}\n", line);
      if (next < new_lines.size()) body += fmt::format("+{}\n", new_lines[next++]);
      continue;
    }
    for (; new_lines.begin() + static_cast<std::ptrdiff_t>(next) != kept; ++next)
      body += fmt::format("+{}\n", new_lines[next]);
    body += fmt::format(" {}\n", line);
    ++next;
  }
  for (; next < new_lines.size(); ++next) body += fmt::format("+{}\n", new_lines[next]);
  return fmt::format("--- a/{0}\n+++ b/{0}\n@@ -{1},{2} +{1},{3} @@\n{4}",
                     std::string_view(call.file).substr(call.file.starts_with('/')), call.first_line, old_lines.size(),
                     new_lines.size(), body);
}

}  // namespace

std::string diff_path(const std::string& file, const std::string& working_directory) {
  const std::string inside = working_directory + "/";
  return !working_directory.empty() && file.starts_with(inside) ? file.substr(inside.size()) : file;
}

std::string code_diff(const CallSource& source, const std::vector<Setting>& settings) {
  const auto call = find_call(source.code, "DataLoader");
  if (!call || source.file.empty() || source.first_line <= 0) return "";
  std::vector<Edit> edits;
  std::vector<std::string> added;
  for (const Setting& setting : settings) {
    if (setting.before == setting.after || setting.name == "worker_threads") continue;
    if (setting.name == "keep_freed_memory") {
      // Where the script has a function of its own there, the change is a line inside of that.
      if (find_argument(*call, "worker_init_fn").place == Place::kAbsent)
        added.push_back("worker_init_fn=fullbore.keep_freed_memory");
      continue;
    }
    const Lookup found = find_argument(*call, setting.name);
    if (found.place == Place::kUnsafe) return "";
    if (found.place == Place::kAbsent) {
      added.push_back(setting.name + "=" + setting.after);
    } else if (std::string_view(source.code)
                   .substr(found.argument->value, found.argument->end - found.argument->value) != setting.after) {
      edits.push_back({found.argument->value, found.argument->end - found.argument->value, setting.after});
    }
  }
  if (!added.empty()) std::ranges::move(add_arguments(source.code, *call, added), std::back_inserter(edits));
  if (edits.empty()) return "";
  return unified(source, source.code, applied(source.code, std::move(edits)));
}

}  // namespace fullbore::diagnose
