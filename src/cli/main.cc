// The command line: options in, one call out. The only file that knows CLI11.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/bench_command.h"
#include "cli/ceilings_command.h"
#include "cli/collect.h"
#include "cli/compare_command.h"
#include "cli/fix_plan.h"
#include "cli/index_command.h"
#include "cli/limits.h"
#include "cli/pack_command.h"
#include "cli/report_command.h"
#include "cli/run.h"
#include "cli/run_folders.h"
#include "cli/runs_command.h"
#include "cli/units.h"
#include "version.h"

namespace fullbore::cli {
namespace {

// `run` keeps 126 and 127 and the command's own codes free.
constexpr int kCannotStart = 125;

constexpr std::string_view kStory =
    "Fullbore watches a training command, names what keeps the GPU waiting, and applies the fix.\n"
    "Your code is not changed: put `fullbore run --` in front of the command you already have.\n"
    "\n"
    "See\n"
    "  fullbore run -- python train.py          run it, watch it, print the verdict\n"
    "  fullbore report [RUN]                    the verdict again: text, --json, --fail-above input_wait=5%\n"
    "  fullbore ceilings                        what the link to the GPU can do here, for later reports\n"
    "\n"
    "Fix and prove\n"
    "  fullbore run --fix -- python train.py    the same with the recommended settings applied\n"
    "  fullbore compare [A [B]]                 before and after: step time, samples/s, cost\n"
    "\n"
    "Feed\n"
    "  fullbore bench DATA                      pictures per second of this machine, and what limits them\n"
    "  fullbore pack DATA OUT                   pictures into tar shards, resumable and read back\n"
    "  fullbore index DATA                      JPEG places to decode crops from, before the first epoch\n"
    "\n"
    "Keep\n"
    "  fullbore runs [list|clean]               what is kept in ./fullbore-runs\n"
    "\n"
    "RUN, A and B are folders, or `last`, `last~1`. `fullbore COMMAND --help` tells more; --version prints the "
    "version.\n";

int fail(int code, const std::string& message) {
  fmt::print(stderr, "fullbore: {}\n", message);
  return code;
}

// Each subcommand registers its options and leaves a call here.
using Call = std::function<int()>;

// The command behind `--` is no option that CLI11 could name.
class RunUsage final : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App*, std::string) const override {
    return "Usage: fullbore run [OPTIONS] -- COMMAND [ARGUMENTS...]\n";
  }
};

struct RunArguments {
  std::string out, watch_for, report, fix;
  std::optional<std::int64_t> steps;
  bool stop = false, quiet = false, no_hook = false;
  std::string directory{kRunsDirectory};
};

base::Expected<RunOptions> run_options(const RunArguments& arguments, bool with_fix,
                                       const std::vector<std::string>& command) {
  RunOptions options;
  options.out = arguments.out;
  options.steps = arguments.steps;
  options.stop = arguments.stop;
  options.quiet = arguments.quiet;
  options.hook = !arguments.no_hook;
  options.command = command;
  if (!arguments.watch_for.empty()) {
    const auto duration = parse_duration_ns(arguments.watch_for);
    if (!duration) return std::unexpected(duration.error());
    options.for_ns = *duration;
  }
  if (options.stop && !options.for_ns && !options.steps) return base::fail("--stop needs --for or --steps to say when");
  if (with_fix && arguments.no_hook) return base::fail("--fix works through the hook; leave --no-hook out");
  if (with_fix) {
    std::error_code ignored;
    const std::string here = std::filesystem::current_path(ignored);
    const auto fix = plan_fix({arguments.fix, command, here, arguments.directory});
    if (!fix) return std::unexpected(base::Error("--fix: " + fix.error().message()));
    if (!fix->note.empty() && !options.quiet) fmt::print(stderr, "fullbore: {}\n", fix->note);
    options.fix = fix->plan;
  }
  // Before the command starts, so that nothing is lost to a name that cannot be written.
  if (!arguments.report.empty() && !std::ofstream(arguments.report, std::ios::app))
    return std::unexpected(base::Error::system(errno, "cannot write the report to " + arguments.report));
  const RunReportOptions report{.quiet = options.quiet, .file = arguments.report, .cells = {}};
  options.report = [report](const std::string& folder) { report_run(folder, report); };
  return options;
}

void add_run(CLI::App& app, const std::vector<std::string>& command, Call& call) {
  auto arguments = std::make_shared<RunArguments>();
  CLI::App* sub = app.add_subcommand("run", "Run a training command, watch it, and print what held it back");
  sub->formatter(std::make_shared<RunUsage>());
  sub->add_option("--out", arguments->out, "Run folder to make (default: a new one in ./fullbore-runs)")
      ->type_name("DIR");
  sub->add_option("--for", arguments->watch_for, "Watch for so long, then report; the training goes on")
      ->type_name("60s");
  sub->add_option("--steps", arguments->steps, "Watch so many steps, then report; the training goes on")
      ->type_name("N")
      ->check(CLI::PositiveNumber.description(""));
  sub->add_flag("--stop", arguments->stop, "With --for or --steps: also end the training then (SIGINT)");
  CLI::Option* fix =
      sub->add_option("--fix", arguments->fix,
                      "Apply the recommended settings: those of RUN's report, or of the newest run of this\n"
                      "command here; `exact`: only what leaves every random number as it was")
          ->type_name("[=exact|RUN]")
          ->expected(0, 1);
  sub->add_option("--report", arguments->report, "Write the report to FILE instead of stderr")->type_name("FILE");
  sub->add_flag("--quiet", arguments->quiet, "Say nothing; the report is in the run folder");
  sub->add_flag("--no-hook", arguments->no_hook, "Leave Python alone: an account from the system only");
  sub->callback([arguments, fix, &command, &call] {
    call = [arguments, with_fix = fix->count() > 0, &command] {
      if (command.empty())
        return fail(kCannotStart, "no command to run; write it behind `--`: fullbore run -- python train.py");
      const auto options = run_options(*arguments, with_fix, command);
      return options ? run(*options) : fail(kCannotStart, options.error().message());
    };
  });
}

void add_collect(CLI::App& app, Call& call) {
  auto options = std::make_shared<CollectOptions>();
  CLI::App* sub = app.add_subcommand("collect", "")->group("");
  sub->add_option("--rings", options->rings)->required();
  sub->add_option("--out", options->out)->required();
  sub->add_option("--pid", options->pid)->required();
  sub->callback([options, &call] { call = [options] { return collect(*options); }; });
}

void add_report(CLI::App& app, Call& call) {
  auto options = std::make_shared<ReportOptions>();
  auto directory = std::make_shared<std::string>(kRunsDirectory);
  options->runs = {"last"};
  CLI::App* sub = app.add_subcommand("report", "Print the verdict of a run again");
  sub->add_option("RUN", options->runs, "Folder, `last` or `last~1`; several: the hosts of one job");
  sub->add_flag("--json", options->json, "As fullbore.report/1 (docs/report.schema.json)");
  sub->add_flag("--redact", options->redact, "Hide paths and host names, for sharing");
  sub->add_option("--fail-above", options->fail_above,
                  "Exit with 3 if a number is above this limit, with 4 if it was not measured; may be repeated")
      ->type_name("input_wait=5%")
      ->allow_extra_args(false);
  sub->add_option("--dir", *directory, "Where `last` is looked for")->type_name("DIR")->capture_default_str();
  sub->callback([options, directory, &call] {
    call = [options, directory] {
      for (std::string& run : options->runs) {
        const auto folder = resolve_run(run, *directory);
        if (!folder) return fail(kUsage, folder.error().message());
        run = *folder;
      }
      return report(*options);
    };
  });
}

int resolve_and_compare(CompareCommandOptions options, const std::string& directory, const std::string& price) {
  for (std::string* run : {&options.before, &options.after}) {
    const auto folder = resolve_run(*run, directory);
    if (!folder) return fail(kUsage, folder.error().message());
    *run = *folder;
  }
  if (!price.empty()) {
    const auto per_hour = parse_price_per_hour(price);
    if (!per_hour) return fail(kUsage, per_hour.error().message());
    options.price_per_hour = *per_hour;
  }
  return compare(options);
}

void add_compare(CLI::App& app, Call& call) {
  auto options = std::make_shared<CompareCommandOptions>();
  auto directory = std::make_shared<std::string>(kRunsDirectory);
  auto price = std::make_shared<std::string>();
  CLI::App* sub = app.add_subcommand("compare", "Before and after: what a change really gained");
  options->before = "last~1";
  options->after = "last";
  sub->add_option("A", options->before, "Run before: folder, `last` or `last~1` (default: `last~1`)");
  sub->add_option("B", options->after, "Run after (default: `last`)");
  sub->add_flag("--json", options->json, "As fullbore.compare/1 (docs/compare.schema.json)");
  sub->add_flag("--anyway", options->anyway, "Also if the runs did different work");
  sub->add_option("--price", *price, "Of the machine, for the cost of 1000 iterations")->type_name("25/h");
  sub->add_option("--dir", *directory, "Where `last` is looked for")->type_name("DIR")->capture_default_str();
  sub->callback([=, &call] { call = [=] { return resolve_and_compare(*options, *directory, *price); }; });
}

void add_ceilings(CLI::App& app, Call& call) {
  auto options = std::make_shared<CeilingsCommandOptions>();
  CLI::App* sub = app.add_subcommand("ceilings", "Measure the link to the GPU, for the reports of later runs");
  sub->add_flag("--json", options->json, "As fullbore.ceilings/1");
  sub->callback([options, &call] { call = [options] { return ceilings_command(*options); }; });
}

void add_index(CLI::App& app, Call& call) {
  auto options = std::make_shared<IndexCommandOptions>();
  CLI::App* sub = app.add_subcommand("index", "Find the places that ImageLoader decodes crops of JPEGs from");
  sub->add_option("DATA", options->data, "Folder with a folder per class, or a list (*.csv, *.jsonl)")->required();
  sub->add_option("--index", options->index, "File to write (default: beside the data, as ImageLoader looks for it)")
      ->type_name("FILE");
  sub->add_option("--threads", options->threads, "(default: all cores)")
      ->type_name("N")
      ->check(CLI::PositiveNumber.description(""));
  sub->add_flag("--check", options->check,
                "Compare the index with the pictures; write nothing, exit with 1 if it differs");
  sub->add_flag("--json", options->json, "As fullbore.index/1");
  sub->callback([options, &call] { call = [options] { return index_command(*options); }; });
}

int clean(CleanOptions options, const std::string& max_size) {
  if (!max_size.empty()) {
    const auto bytes = parse_bytes(max_size);
    if (!bytes) return fail(kUsage, bytes.error().message());
    options.max_bytes = *bytes;
  }
  return clean_runs(options);
}

void add_runs(CLI::App& app, Call& call) {
  auto options = std::make_shared<CleanOptions>();
  auto max_size = std::make_shared<std::string>();
  options->directory = kRunsDirectory;
  CLI::App* sub = app.add_subcommand("runs", "List the runs that are kept, or remove old ones");
  const auto add_directory = [&](CLI::App* at) {
    at->add_option("--dir", options->directory, "Folder of the runs")->type_name("DIR")->capture_default_str();
  };
  add_directory(sub);
  sub->require_subcommand(0, 1);
  CLI::App* list = sub->add_subcommand("list", "Newest first (the default)");
  CLI::App* clean_command =
      sub->add_subcommand("clean", "Remove old runs; nothing that is not Fullbore's, and no link is followed");
  add_directory(list);
  add_directory(clean_command);
  clean_command->add_option("--keep", options->keep, "Keep the newest N")
      ->type_name("N")
      ->check(CLI::NonNegativeNumber.description(""));
  clean_command->add_option("--max-size", *max_size, "Remove the oldest until the rest fits")->type_name("1GB");
  sub->callback([=, &call] {
    call = [=] { return clean_command->parsed() ? clean(*options, *max_size) : list_runs_command(options->directory); };
  });
}

int pack_with(PackCommandOptions options, const std::string& shard_size) {
  if (!shard_size.empty()) {
    const auto bytes = parse_bytes(shard_size);
    if (!bytes) return fail(kUsage, bytes.error().message());
    options.pack.shard_bytes = *bytes;
  }
  // The last name is OUT, as for cp.
  if (options.data.size() < 2) return fail(kUsage, "pack needs DATA and the folder OUT to write to");
  options.out = std::move(options.data.back());
  options.data.pop_back();
  return pack_command(options);
}

void add_pack(CLI::App& app, Call& call) {
  auto options = std::make_shared<PackCommandOptions>();
  auto shard_size = std::make_shared<std::string>();
  CLI::App* sub = app.add_subcommand("pack", "Write pictures into tar shards; called again it goes on");
  sub->add_option("DATA OUT", options->data,
                  "Folder of classes, list of files, or shards; then the folder to write to");
  sub->add_option("--shard-size", *shard_size, "A shard is not larger (default: 512MB)")->type_name("1GB");
  sub->add_option("--shuffle", options->pack.shuffle, "Mix the samples, by this seed; without it they keep their order")
      ->type_name("SEED");
  sub->add_flag("--skip-bad", options->pack.skip_bad, "Leave out what is no picture, and list it in index.json");
  sub->callback([=, &call] { call = [=] { return pack_with(*options, *shard_size); }; });
}

int bench_with(BenchCommandOptions options) {
  if (options.bench.most_threads == 0) options.bench.most_threads = machine_limits(base::RealFiles()).usable_cores;
  return bench_command(options);
}

void add_bench(CLI::App& app, Call& call) {
  auto options = std::make_shared<BenchCommandOptions>();
  options->bench.transform.flip = 0.5;
  options->bench.most_threads = 0;
  CLI::App* sub =
      app.add_subcommand("bench", "Pictures per second by threads, CPU time by stage, and what limits them");
  sub->add_option("DATA", options->data, "Folder of classes, list of files, or shards")->required();
  sub->add_option("--seconds", options->bench.seconds, "Measure for so long")
      ->type_name("S")
      ->capture_default_str()
      ->check(CLI::Range(1.0, 3600.0).description(""));
  sub->add_option("--threads", options->bench.most_threads, "Up to so many (default: the cores this process may use)")
      ->type_name("N")
      ->check(CLI::Range(1, 1024).description(""));
  sub->add_flag("--cold", options->bench.cold, "Ask the kernel to forget the files before they are read");
  sub->add_flag("--json", options->json, "As fullbore.bench/1");
  sub->callback([=, &call] { call = [=] { return bench_with(*options); }; });
}

std::string unexpected_text(const std::vector<std::string>& rest, bool is_run) {
  const std::string first = rest.empty() ? "" : rest.front();
  if (first.starts_with('-')) {
    return fmt::format("unknown option {}; see `fullbore{} --help`", first, is_run ? " run" : "");
  }
  if (is_run) return fmt::format("write `--` in front of the command: fullbore run -- {}", fmt::join(rest, " "));
  return fmt::format("unknown argument '{}'; see `fullbore --help`", first);
}

// CLI11 throws; its own exit codes would hide in those of the command.
int parse_and_call(std::vector<std::string> arguments, const std::vector<std::string>& command) {
  CLI::App app("", "fullbore");
  Call call;
  app.set_version_flag("--version", std::string("fullbore ") + kVersion);
  app.require_subcommand(0, 1);
  add_run(app, command, call);
  add_collect(app, call);
  add_report(app, call);
  add_compare(app, call);
  add_ceilings(app, call);
  add_index(app, call);
  add_runs(app, call);
  add_bench(app, call);
  add_pack(app, call);
  const bool is_run = !arguments.empty() && arguments.front() == "run";
  std::ranges::reverse(arguments);
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::CallForVersion& version) {
    fmt::print("{}\n", version.what());
    return 0;
  } catch (const CLI::Success&) {
    const auto subs = app.get_subcommands();
    fmt::print("{}", subs.empty() ? std::string(kStory) : app.help());
    return 0;
  } catch (const CLI::ExtrasError&) {
    return fail(is_run ? kCannotStart : kUsage, unexpected_text(app.remaining(true), is_run));
  } catch (const CLI::ParseError& error) {
    const std::string hint = is_run ? "fullbore run --help" : "fullbore --help";
    return fail(is_run ? kCannotStart : kUsage, fmt::format("{}; see `{}`", error.what(), hint));
  }
  if (call) return call();
  fmt::print(stderr, "{}", kStory);
  return kUsage;
}

}  // namespace
}  // namespace fullbore::cli

int main(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  std::vector<std::string> command;
  // What stands behind `--` is not ours to read.
  const auto mark = std::ranges::find(arguments, "--");
  if (mark != arguments.end()) {
    command.assign(mark + 1, arguments.end());
    arguments.erase(mark, arguments.end());
  }
  return fullbore::cli::parse_and_call(std::move(arguments), command);
}
