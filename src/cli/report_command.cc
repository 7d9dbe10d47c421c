#include "cli/report_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <utility>

#include "base/file_reader.h"
#include "cli/source_text.h"
#include "cli/terminal.h"
#include "diagnose/diagnose.h"
#include "record/run.h"
#include "report/json.h"
#include "report/limit.h"
#include "report/redact.h"
#include "report/text.h"

namespace fullbore::cli {
namespace {

struct Host {
  std::string name;
  diagnose::Diagnosis diagnosis;
};

void complain(const std::string& text) {
  fmt::print(stderr, "fullbore: {}\n", text);
}

// "" if it is not there: a run that was cut short has no source text.
std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

base::Expected<Host> judge_host(const std::string& folder, bool redact) {
  auto run = record::read_run(folder);
  if (!run) return std::unexpected(run.error());
  Host host{run->info.host, diagnose::diagnose(*run)};
  add_source_text(host.diagnosis, read_file(folder + "/source.json"));
  if (redact) {
    report::redact(host.diagnosis, host.name);
    host.name = "<host>";
  }
  return host;
}

void print_json(const std::vector<Host>& hosts) {
  if (hosts.size() == 1) return fmt::print("{}", report::to_json(hosts[0].diagnosis));
  // One JSON document per host, as an array.
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    fmt::print("{}{}", i == 0 ? "[\n" : ",\n", report::to_json(hosts[i].diagnosis));
  }
  fmt::print("]\n");
}

// A headline per host, then the whole report of the one that loses most.
void print_text(const std::vector<Host>& hosts, const report::TextOptions& options) {
  const auto worst = std::ranges::max_element(hosts, {}, [](const Host& h) {
    return std::pair(h.diagnosis.verdict.severity, h.diagnosis.causes.empty() ? 0.0 : h.diagnosis.causes[0].share);
  });
  if (hosts.size() > 1) {
    report::Page page(options);
    for (const Host& host : hosts) {
      page.prose(report::clean(host.name) + ":", 2, "");
      page.prose("", 2, report::clean(host.diagnosis.verdict.summary));
    }
    page.blank();
    page.line(fmt::format("The report of {}, which loses most:", report::clean(worst->name)));
    page.blank();
    fmt::print("{}", page.text());
  }
  fmt::print("{}", report::terminal_text(worst->diagnosis, options));
}

int check_limits(const std::vector<Host>& hosts, const std::vector<report::Limit>& limits) {
  int code = 0;
  for (const report::Limit& limit : limits) {
    for (const Host& host : hosts) {
      const std::string on = hosts.size() > 1 ? " on " + host.name : "";
      const auto value = report::measured(host.diagnosis, limit);
      if (!value) {
        complain(fmt::format("{} was not measured{}, so its limit cannot be held", limit.name, on));
        code = std::max(code, kNotMeasured);
      } else if (*value > limit.above) {
        complain(report::exceeded_text(limit, *value) + on);
        code = std::max(code, kLimitExceeded);
      }
    }
  }
  return code;
}

bool write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (!file) complain(base::Error::system(errno, "cannot write " + path).message());
  return !file.fail();
}

}  // namespace

base::Expected<diagnose::Diagnosis> judge(const std::string& folder) {
  auto host = judge_host(folder, false);
  if (!host) return std::unexpected(host.error());
  return std::move(host->diagnosis);
}

int report(const ReportOptions& options) {
  std::vector<report::Limit> limits;
  for (const std::string& text : options.fail_above) {
    auto limit = report::parse_limit(text);
    if (!limit) return complain(limit.error().message()), kUsage;
    limits.push_back(std::move(*limit));
  }
  std::vector<Host> hosts;
  for (const std::string& folder : options.runs) {
    auto host = judge_host(folder, options.redact);
    if (!host) return complain(host.error().message()), kUsage;
    hosts.push_back(std::move(*host));
  }
  if (options.json) {
    print_json(hosts);
  } else {
    print_text(hosts, text_options_of(STDOUT_FILENO));
  }
  return check_limits(hosts, limits);
}

void report_run(const std::string& folder, const RunReportOptions& options) {
  auto diagnosis = judge(folder);
  if (!diagnosis) return complain("no report: " + diagnosis.error().message());
  const std::string source = source_json(*diagnosis, base::RealFiles(), options.cells);
  write_file(folder + "/source.json", source);
  add_source_text(*diagnosis, source);
  write_file(folder + "/report.json", report::to_json(*diagnosis));
  write_file(folder + "/report.txt", report::terminal_text(*diagnosis, file_text_options()));
  if (!options.file.empty()) {
    write_file(options.file, report::terminal_text(*diagnosis, file_text_options()));
  } else if (!options.quiet) {
    const report::TextOptions text = text_options_of(STDERR_FILENO);
    report::Page page(text);
    page.heading("Fullbore", folder);
    fmt::print(stderr, "\n{}\n{}", page.text(), report::terminal_text(*diagnosis, text));
  }
}

}  // namespace fullbore::cli
