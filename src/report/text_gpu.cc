// What the device did, from its own records: how long kernels ran, how long the gaps were, and the copies to it.
#include <fmt/format.h>

#include "report/sections.h"
#include "report/words.h"

namespace fullbore::report {
namespace {

using namespace diagnose;

constexpr std::size_t kLabel = 16;

void write_copies(Page& page, const char* label, const CopyFacts& copies) {
  if (copies.count == 0) return;
  page.line(fmt::format("  {}{} copies, {:.1f} MB each{}", page.left(label, kLabel), copies.count,
                        copies.bytes / 1e6 / static_cast<double>(copies.count),
                        copies.gb_per_s ? fmt::format(", {:.1f} GB/s", *copies.gb_per_s) : ""));
}

}  // namespace

void write_gpu(Page& page, const Diagnosis& d) {
  if (!d.gpu) return;
  page.heading("GPU", fmt::format("in {} window{} of {:.0f} ms together", d.gpu->windows,
                                  d.gpu->windows == 1 ? "" : "s", d.gpu->seen_ms));
  page.line(fmt::format("  {}{}", page.left("kernels run", kLabel), percent(d.gpu->busy)));
  const auto& gaps = d.gpu->gaps;
  page.line(fmt::format("  {}{} below 1 ms, {} 1-10 ms, {} 10-100 ms, {} longer", page.left("in gaps", kLabel),
                        percent(gaps[0]), percent(gaps[1]), percent(gaps[2]), percent(gaps[3])));
  if (!d.copies) return;
  page.line(fmt::format("  {}{:.2f} ms per step; {} of the step with no kernel beside it",
                        page.left("host to device", kLabel), d.copies->h2d_ms_per_batch,
                        percent(d.copies->exposed_share)));
  write_copies(page, "  pageable", d.copies->pageable);
  write_copies(page, "  page-locked", d.copies->pinned);
}

}  // namespace fullbore::report
