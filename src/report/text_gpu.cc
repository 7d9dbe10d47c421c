// What the device did, from its own records: how long kernels ran, why and how long none did, and the copies to it.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/sections.h"
#include "report/words.h"

namespace fullbore::report {
namespace {

using namespace diagnose;

constexpr std::size_t kLabel = 16;
constexpr std::size_t kColumn = 12;
// Below this a share prints as 0.0 %.
constexpr double kVisible = 0.0005;

void write_copies(Page& page, const char* label, const CopyFacts& copies) {
  if (copies.count == 0) return;
  page.line(fmt::format("  {}{} copies, {:.1f} MB each{}", page.left(label, kLabel), copies.count,
                        copies.bytes / 1e6 / static_cast<double>(copies.count),
                        copies.gb_per_s ? fmt::format(", {:.1f} GB/s", *copies.gb_per_s) : ""));
}

// Short spikes or lasting low use: a row for each reason, a column for each length of the gaps.
void write_idle(Page& page, const GpuFacts& gpu) {
  if (gpu.idle.empty()) return;
  static constexpr const char* kLengths[] = {"< 1 ms", "1-10 ms", "10-100 ms", "> 100 ms"};
  std::string header = "  " + page.left("no kernel runs", kLabel) + page.right("of the time", kColumn);
  for (const char* length : kLengths) header += page.right(length, kColumn);
  page.line(page.paint(Ink::kDim, header + "  by length of the gap"));
  for (const GpuIdle& idle : gpu.idle) {
    if (idle.share < kVisible) continue;
    std::string row = "    " + page.left(spaced(idle.why), kLabel - 2) + page.right(percent(idle.share), kColumn);
    for (const double share : idle.gaps) row += page.right(share < kVisible ? "-" : percent(share), kColumn);
    page.line(row);
  }
}

// Which GPU is which rank's, lower ranks first, and the one that holds the others up.
void write_ranks(Page& page, const Diagnosis& d) {
  constexpr std::string_view kFact = "gpu rank ";
  std::vector<std::pair<std::string, std::string>> rows;  // "0", what is known of it
  for (const auto& [name, text] : d.facts) {
    if (name.starts_with(kFact)) rows.emplace_back(name.substr(kFact.size(), name.find(" (") - kFact.size()), text);
  }
  // "10" comes after "9".
  std::ranges::stable_sort(rows, {}, [](const auto& row) { return row.first.size(); });
  for (const auto& [rank, text] : rows) page.line("  " + page.left("rank " + rank, kLabel) + clean(text));
  if (const auto slower = d.facts.find("slower gpu"); slower != d.facts.end())
    page.prose("  " + page.left("slower", kLabel), kLabel + 2, clean(slower->second), Ink::kYellow);
}

}  // namespace

void write_gpu(Page& page, const Diagnosis& d) {
  if (!d.gpu) return;
  page.heading("GPU",
               fmt::format("{} steps in {} window{}", d.gpu->steps, d.gpu->windows, d.gpu->windows == 1 ? "" : "s"));
  page.line(fmt::format("  {}{}, {:.0f} per step", page.left("kernels run", kLabel), percent(d.gpu->busy),
                        d.gpu->kernels_per_step));
  write_idle(page, *d.gpu);
  if (d.gpu->hidden_wait_ms >= kVisible * d.account.step_ms)
    page.line(fmt::format("  {}{} ms per step of waiting for input cost nothing: kernels ran meanwhile",
                          page.left("hidden", kLabel), milliseconds_of(d.gpu->hidden_wait_ms, d.account.step_ms)));
  write_ranks(page, d);
  if (!d.copies) return;
  page.line(fmt::format("  {}{:.2f} ms per step; {} of the step with no kernel beside it",
                        page.left("host to device", kLabel), d.copies->h2d_ms_per_batch,
                        percent(d.copies->exposed_share)));
  write_copies(page, "  pageable", d.copies->pageable);
  write_copies(page, "  page-locked", d.copies->pinned);
}

}  // namespace fullbore::report
