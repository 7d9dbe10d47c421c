#include "report/redact.h"

#include <cctype>
#include <map>

namespace fullbore::report {
namespace {

using namespace diagnose;

bool is_path_char(char c) {
  return !std::isspace(static_cast<unsigned char>(c)) && !std::string_view("\"'`,;:()[]{}<>|=").contains(c);
}

// "a/home/ada/train.py" in the header of a diff is an absolute path too.
bool begins_path(std::string_view text, std::size_t at) {
  if (text[at] == '~' || text[at] == '/') return at == 0 || !is_path_char(text[at - 1]);
  const bool is_diff_side = (text[at] == 'a' || text[at] == 'b') && at >= 4 && text.substr(at + 1).starts_with('/');
  return is_diff_side && (text.substr(at - 4, 4) == "--- " || text.substr(at - 4, 4) == "+++ ");
}

std::string hidden(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos || slash + 1 == path.size())
    return path.size() > 1 ? "<path>" : std::string(path);
  if (path.ends_with(".py")) return std::string(path.substr(slash + 1));
  return "<path>";
}

std::string without_paths(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    if (begins_path(text, at)) {
      while (end < text.size() && is_path_char(text[end])) ++end;
    }
    const std::string_view path = text.substr(at, end - at);
    if (path.find('/') == std::string_view::npos) {
      out += text[at++];
      continue;
    }
    if (path[0] == 'a' || path[0] == 'b') out += std::string(path.substr(0, 2));
    out += hidden(path);
    at = end;
  }
  return out;
}

class Redactor {
 public:
  explicit Redactor(std::string_view host) : host_(host) {}

  void operator()(std::string& text) const { text = redacted(text, host_); }
  void operator()(std::optional<Location>& where) const {
    if (where) (*this)(*where);
  }
  void operator()(Location& where) const {
    (*this)(where.file);
    (*this)(where.code);
  }
  void operator()(Cause& cause) const {
    for (std::string* text :
         {&cause.summary, &cause.fix.text, &cause.fix.diff, &cause.fix.risk, &cause.fix.next_command})
      (*this)(*text);
    (*this)(cause.where);
    (*this)(cause.fix.where);
    for (std::string& why : cause.why_not) (*this)(why);
    for (Evidence& e : cause.evidence) {
      (*this)(e.metric);
      (*this)(e.source);
    }
  }
  void operator()(std::map<std::string, std::string>& texts) const {
    for (auto& [name, text] : texts) (*this)(text);
  }

 private:
  std::string_view host_;
};

}  // namespace

std::string redacted(std::string_view text, std::string_view host) {
  std::string out = without_paths(text);
  if (host.empty()) return out;
  for (std::size_t at = out.find(host); at != std::string::npos; at = out.find(host, at + 6))
    out.replace(at, host.size(), "<host>");
  return out;
}

void redact(Diagnosis& d, std::string_view host) {
  const Redactor redactor(host);
  for (std::string* text : {&d.run, &d.command, &d.verdict.summary, &d.changed_at}) redactor(*text);
  for (Cause& cause : d.causes) redactor(cause);
  redactor(d.loader.where);
  for (std::string* text : {&d.loader.dataset_type, &d.loader.collate}) redactor(*text);
  for (auto* lines : {&d.loop_lines, &d.dataset_lines}) {
    for (LineTime& line : *lines) redactor(line.where);
  }
  if (d.fix) {
    for (std::string* text : {&d.fix->mode, &d.fix->random_streams, &d.fix->diff}) redactor(*text);
    for (FixAction& action : d.fix->actions) {
      redactor(action.where);
      redactor(action.why);
    }
  }
  for (Missing& m : d.missing) redactor(m.why);
  redactor(d.facts);
  redactor(d.environment);
}

}  // namespace fullbore::report
