#include "cli/compare_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include "cli/report_command.h"
#include "cli/terminal.h"
#include "report/compare.h"

namespace fullbore::cli {

namespace {
constexpr int kDifferentWork = 1;
}

int compare(const CompareCommandOptions& options) {
  const auto before = judge(options.before);
  const auto after = judge(options.after);
  for (const auto* side : {&before, &after}) {
    if (*side) continue;
    fmt::print(stderr, "fullbore: {}\n", side->error().message());
    return kUsage;
  }
  const auto differences = report::differences(*before, *after);
  if (!differences.empty()) {
    const std::string what = fmt::format("{}", fmt::join(differences, "; "));
    fmt::print(stderr, "fullbore: the runs did different work: {}{}\n", what,
               options.anyway ? "" : "; compare them with --anyway");
    if (!options.anyway) return kDifferentWork;
  }
  const report::Comparison comparison = report::compare(*before, *after, {.price_per_hour = options.price_per_hour});
  fmt::print("{}", options.json ? report::comparison_json(comparison)
                                : report::comparison_text(comparison, text_options_of(STDOUT_FILENO)));
  return 0;
}

}  // namespace fullbore::cli
