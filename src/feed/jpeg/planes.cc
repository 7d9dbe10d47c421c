#include "feed/jpeg/planes.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>

namespace fullbore::jpeg {
namespace {

std::uint32_t divide_up(std::uint32_t value, std::uint32_t by) {
  return (value + by - 1) / by;
}

// Whole blocks around samples.
Area blocks_around(const Area& samples) {
  return {samples.x0 / 8, samples.y0 / 8, divide_up(samples.x1, 8), divide_up(samples.y1, 8)};
}

constexpr const char* kContradiction = "the checkpoints contradict the picture; make them again";

bool same_point(const Checkpoints::Point& a, const Checkpoints::Point& b) {
  return a.offset == b.offset && a.bit == b.bit && std::ranges::equal(a.dc, b.dc);
}

std::uint32_t range_start(std::uint32_t pixel, std::uint32_t factor) {
  return factor == 1 ? pixel : std::max(pixel / factor, 1u) - 1;
}
std::uint32_t range_end(std::uint32_t last_pixel, std::uint32_t factor, std::uint32_t size) {
  return std::min(last_pixel / factor + (factor == 1 ? 1 : 2), size);
}

}  // namespace

Area samples_for(const Frame& frame, const Component& component, const Rect& window) {
  const std::uint32_t across = frame.max_h / component.h, down = frame.max_v / component.v;
  // Rows begin where all components have a sample (see PixelRows), and sampling factors of 3 divide no block.
  const std::uint32_t left = window.x / frame.max_h * frame.max_h;
  // The triangle filters look at one sample more on each side.
  return {range_start(left, across), range_start(window.y, down),
          range_end(window.x + window.width - 1, across, component.width),
          range_end(window.y + window.height - 1, down, component.height)};
}

void Plane::reset(const Area& blocks) {
  x0_ = blocks.x0 * 8;
  y0_ = blocks.y0 * 8;
  // Three blocks more than needed: the transform works on four at once.
  stride_ = (blocks.x1 - blocks.x0 + 3) * 8 + kPad;
  const std::size_t size = kPad + stride_ * (blocks.y1 - blocks.y0) * 8 + kPad;
  if (bytes_.size() < size) bytes_.resize(size);
}

Expected<void> PlaneDecoder::plan_mcu(const Headers& headers, Scan& scan) {
  McuPlan& plan = scan.layout.plan;
  for (std::size_t i = 0; i < scan.components.size(); ++i) {
    const Component& component = headers.frame.components[scan.components[i]];
    const std::uint32_t blocks =
        scan.components.size() == 1 ? 1u : static_cast<std::uint32_t>(component.h * component.v);
    const auto& dc_spec = headers.dc[headers.scan.dc_table[i]];
    const auto& ac_spec = headers.ac[headers.scan.ac_table[i]];
    if (!dc_spec || !ac_spec) return unsupported("a scan without its Huffman tables");
    const auto dc = tables_.dc(*dc_spec);
    const auto ac = tables_.ac(*ac_spec);
    if (!dc) return std::unexpected(dc.error());
    if (!ac) return std::unexpected(ac.error());
    if (plan.count + blocks > kMaxBlocksInMcu) return corrupt("an MCU of more than 10 blocks");
    scan.first_block.push_back(plan.count);
    for (std::uint32_t b = 0; b < blocks; ++b) {
      plan.blocks[plan.count++] = {*dc, *ac, static_cast<std::uint32_t>(i)};
    }
  }
  return {};
}

Expected<PlaneDecoder::Scan> PlaneDecoder::plan_scan(const Headers& headers, const Rect& window) {
  const Frame& frame = headers.frame;
  const ScanHeader& header = headers.scan;
  Scan scan;
  scan.components.assign(header.component.begin(), header.component.begin() + header.component_count);
  scan.layout.restart_interval = header.restart_interval;
  scan.layout.data = header.data;
  if (const auto planned = plan_mcu(headers, scan); !planned) return std::unexpected(planned.error());
  if (header.component_count == 1) {
    const Component& component = frame.components[scan.components[0]];
    scan.layout.mcus_per_row = divide_up(component.width, 8);
    scan.layout.rows = divide_up(component.height, 8);
    scan.window = blocks_around(samples_for(frame, component, window));
    return scan;
  }
  scan.layout.mcus_per_row = divide_up(frame.width, 8 * frame.max_h);
  scan.layout.rows = divide_up(frame.height, 8 * frame.max_v);
  scan.window = {scan.layout.mcus_per_row, scan.layout.rows, 0, 0};
  for (const std::size_t index : scan.components) {
    const Component& component = frame.components[index];
    const Area blocks = blocks_around(samples_for(frame, component, window));
    scan.window.x0 = std::min(scan.window.x0, blocks.x0 / component.h);
    scan.window.y0 = std::min(scan.window.y0, blocks.y0 / component.v);
    scan.window.x1 = std::max(scan.window.x1, divide_up(blocks.x1, component.h));
    scan.window.y1 = std::max(scan.window.y1, divide_up(blocks.y1, component.v));
  }
  return scan;
}

void PlaneDecoder::prepare_order(const Headers& headers, const Scan& scan) {
  const std::uint32_t mcus = scan.window.x1 - scan.window.x0;
  order_.clear();
  for (std::size_t i = 0; i < scan.components.size(); ++i) {
    const Component& component = headers.frame.components[scan.components[i]];
    const bool single = scan.components.size() == 1;
    const std::uint32_t h = single ? 1 : component.h, v = single ? 1 : component.v;
    for (std::uint32_t row = 0; row < v; ++row) {
      std::vector<std::uint32_t>& order = order_.emplace_back();
      for (std::uint32_t mcu = 0; mcu < mcus; ++mcu) {
        for (std::uint32_t column = 0; column < h; ++column) {
          order.push_back(mcu * scan.layout.plan.count + scan.first_block[i] + row * h + column);
        }
      }
      order.insert(order.end(), 3, order.back());
    }
  }
}

void PlaneDecoder::prepare(const Headers& headers, const Scan& scan) {
  quant_.clear();
  for (std::size_t i = 0; i < scan.components.size(); ++i) {
    const Component& component = headers.frame.components[scan.components[i]];
    quant_.emplace_back(*headers.quant[component.quant]);
    Area blocks = scan.window;
    if (scan.components.size() > 1) {
      blocks = {blocks.x0 * component.h, blocks.y0 * component.v, blocks.x1 * component.h, blocks.y1 * component.v};
    }
    planes_[scan.components[i]].reset(blocks);
  }
  prepare_order(headers, scan);
  const std::size_t blocks = std::size_t{scan.window.x1 - scan.window.x0} * scan.layout.plan.count;
  for (Row& row : rows_) {
    constexpr std::size_t kAlignment = 128;
    row.memory.resize(std::max(row.memory.size(), blocks * kBlockSize + Coefficients::kSlack + kAlignment / 2));
    row.last.resize(std::max(row.last.size(), blocks));
    void* start = row.memory.data();
    std::size_t space = row.memory.size() * sizeof(std::int16_t);
    row.coefficients.blocks = static_cast<std::int16_t*>(std::align(kAlignment, kAlignment, start, space));
    row.coefficients.last = row.last.data();
  }
}

void PlaneDecoder::transform_row(const Headers& headers, const Scan& scan, std::uint32_t mcu_y, const Row& row) {
  std::size_t next = 0;
  for (std::size_t i = 0; i < scan.components.size(); ++i) {
    Plane& plane = planes_[scan.components[i]];
    const std::uint32_t v = scan.components.size() == 1 ? 1 : headers.frame.components[scan.components[i]].v;
    for (std::uint32_t block_row = 0; block_row < v; ++block_row) {
      const std::vector<std::uint32_t>& order = order_[next++];
      inverse_dct(row.coefficients, order.data(), order.size() - 3, quant_[i], plane.block_row(mcu_y * v + block_row),
                  plane.stride());
    }
  }
}

Expected<void> PlaneDecoder::decode_forward(FileBytes file, const Scan& scan) {
  ScanReader& reader = readers_[0];
  reader.begin(file, scan.layout);
  const Area& window = scan.window;
  for (std::uint32_t y = window.y0; y < window.y1; ++y) {
    const std::size_t row = std::size_t{y} * scan.layout.mcus_per_row;
    if (const auto skipped = reader.skip_to(row + window.x0); !skipped) return skipped;
    if (const auto done = reader.decode(window.x1 - window.x0, rows_[0].coefficients); !done) return done;
    transform_row(*headers_, scan, y, rows_[0]);
  }
  return {};
}

Expected<void> PlaneDecoder::decode_recording(FileBytes file, const Scan& scan, Checkpoints& record) {
  ScanReader& reader = readers_[0];
  reader.begin(file, scan.layout);
  const Area& window = scan.window;
  std::vector<Checkpoints::Point> points;
  for (std::uint32_t y = 0; y < scan.layout.rows; ++y) {
    const bool inside = y >= window.y0 && y < window.y1;
    const std::size_t row = std::size_t{y} * scan.layout.mcus_per_row;
    Coefficients out = rows_[0].coefficients;
    for (std::uint32_t x = 0; x < scan.layout.mcus_per_row; x += Checkpoints::kSpacing) {
      const std::uint32_t end = std::min(x + Checkpoints::kSpacing, scan.layout.mcus_per_row);
      points.push_back(reader.point());
      const std::uint32_t first = inside ? std::clamp(window.x0, x, end) : end;
      const std::uint32_t last = inside ? std::clamp(window.x1, first, end) : end;
      if (const auto skipped = reader.skip_to(row + first); !skipped) return skipped;
      if (const auto done = reader.decode(last - first, out); !done) return done;
      if (const auto skipped = reader.skip_to(row + end); !skipped) return skipped;
      out.blocks += std::size_t{last - first} * scan.layout.plan.count * kBlockSize;
      out.last += std::size_t{last - first} * scan.layout.plan.count;
    }
    if (inside) transform_row(*headers_, scan, y, rows_[0]);
  }
  points.push_back(reader.point());
  record = Checkpoints(scan.layout.mcus_per_row, scan.layout.rows, std::move(points));
  return {};
}

// Whether a row ended where the next checkpoint stands. The first one of a window is read on to it if need be: at the
// price of a few MCUs that tells checkpoints of another picture.
Expected<void> PlaneDecoder::check_arrival(ScanReader& reader, const Scan& scan, bool first,
                                           const Checkpoints::Point& expected) {
  const std::uint32_t x1 = scan.window.x1, row = scan.layout.mcus_per_row;
  if (scan.layout.restart_interval != 0) return {};  // a marker may lie in between
  if (x1 % Checkpoints::kSpacing != 0 && x1 != row) {
    if (!first) return {};
    const std::uint32_t point = std::min(divide_up(x1, Checkpoints::kSpacing) * Checkpoints::kSpacing, row);
    if (const auto skipped = reader.skip_to(reader.mcu() + point - x1); !skipped) return skipped;
  }
  if (same_point(reader.point(), expected)) return {};
  return corrupt(kContradiction);
}

Expected<void> PlaneDecoder::decode_indexed(FileBytes file, const Scan& scan, const Checkpoints& checkpoints) {
  const Area& window = scan.window;
  const auto& points = checkpoints.points();
  if (!same_point(points.front(), {static_cast<std::uint32_t>(scan.layout.data), 0, {}}))
    return corrupt(kContradiction);
  const std::size_t columns = window.x1 - window.x0;
  const auto index = [&](std::uint32_t y) {
    return std::size_t{y} * checkpoints.per_row() + window.x0 / Checkpoints::kSpacing;
  };
  const auto arrival = [&](std::uint32_t y) {
    return std::size_t{y} * checkpoints.per_row() + divide_up(window.x1, Checkpoints::kSpacing);
  };
  const auto begin = [&](ScanReader& reader, std::uint32_t y) {
    const std::size_t row = std::size_t{y} * scan.layout.mcus_per_row;
    // Two bytes more: the last one may be used in part, and may be an FF with its stuffed zero.
    reader.begin_at(file, scan.layout, row + window.x0 / Checkpoints::kSpacing * Checkpoints::kSpacing,
                    points[index(y)], std::min<std::size_t>(file.size(), points[arrival(y)].offset + std::size_t{2}));
    return reader.skip_to(row + window.x0);
  };
  for (std::uint32_t y = window.y0; y < window.y1; y += 2) {
    const std::size_t count = std::min(2u, window.y1 - y);
    for (std::uint32_t i = 0; i < count; ++i) {
      if (const auto begun = begin(readers_[i], y + i); !begun) return begun;
    }
    const auto done = count == 2 ? ScanReader::decode_two(readers_[0], readers_[1], columns, rows_[0].coefficients,
                                                          rows_[1].coefficients)
                                 : readers_[0].decode(columns, rows_[0].coefficients);
    if (!done) return done;
    for (std::uint32_t i = 0; i < count; ++i) {
      if (const auto right = check_arrival(readers_[i], scan, y + i == window.y0, points[arrival(y + i)]); !right)
        return right;
      transform_row(*headers_, scan, y + i, rows_[i]);
    }
  }
  return {};
}

// What the scan's header must fulfil; `seen` has a bit for each component of the scans before.
Expected<void> PlaneDecoder::check_scan(const Headers& headers, std::uint32_t& seen) const {
  if (!headers.scan.all_coefficients) return corrupt("a sequential scan with the parameters of a progressive one");
  for (std::uint32_t i = 0; i < headers.scan.component_count; ++i) {
    const std::uint32_t bit = 1u << headers.scan.component[i];
    if (seen & bit) return unsupported("a component in several scans");
    seen |= bit;
    const Component& component = headers.frame.components[headers.scan.component[i]];
    if (component.quant > 3 || !headers.quant[component.quant])
      return corrupt("a component without its quantisation table");
  }
  return {};
}

Expected<void> PlaneDecoder::decode_scan(FileBytes file, const Scan& scan, const Checkpoints* checkpoints,
                                         Checkpoints* record) {
  if (!checkpoints) return record ? decode_recording(file, scan, *record) : decode_forward(file, scan);
  if (checkpoints->mcus_per_row() == scan.layout.mcus_per_row && checkpoints->rows() == scan.layout.rows) {
    return decode_indexed(file, scan, *checkpoints);
  }
  return std::unexpected(Error{ErrorKind::kArgument, "the checkpoints are those of a picture of another size"});
}

Expected<void> PlaneDecoder::decode(FileBytes file, const Headers& first, const Rect& window,
                                    const Checkpoints* checkpoints, Checkpoints* record) {
  Headers headers = first;
  headers_ = &headers;
  const bool one_scan = headers.scan.component_count == headers.frame.component_count;
  if (!one_scan || (checkpoints && checkpoints->empty())) checkpoints = nullptr;
  if (!one_scan) record = nullptr;
  std::uint32_t seen = 0;
  for (bool more = true; more;) {
    if (const auto good = check_scan(headers, seen); !good) return good;
    const auto scan = plan_scan(headers, window);
    if (!scan) return std::unexpected(scan.error());
    prepare(headers, *scan);
    if (const auto done = decode_scan(file, *scan, checkpoints, record); !done) return done;
    const bool to_the_end = scan->window.x1 == scan->layout.mcus_per_row && scan->window.y1 == scan->layout.rows;
    if (checkpoints || (one_scan && !to_the_end && !record)) return {};
    if (const auto skipped = readers_[0].skip_to(scan->layout.total()); !skipped) return skipped;
    const auto end = readers_[0].finish();
    if (!end) return std::unexpected(end.error());
    const auto next = next_scan(file, *end, headers);
    if (!next) return std::unexpected(next.error());
    more = *next;
    if (more && one_scan) return corrupt("a second scan in a picture whose first has all components");
  }
  if (seen != (1u << headers.frame.component_count) - 1) return unsupported("a picture without all of its scans");
  return {};
}

}  // namespace fullbore::jpeg
