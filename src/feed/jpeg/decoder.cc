// The public decoder: chooses who decodes, and leads the rows of the window into the caller's memory.
#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "feed/jpeg/pixel_rows.h"
#include "feed/jpeg/resize.h"
#include "feed/jpeg/turbo.h"

namespace fullbore::jpeg {
namespace {

std::unexpected<Error> bad_argument(std::string message) {
  return std::unexpected(Error{ErrorKind::kArgument, std::move(message)});
}

bool is_native(const Frame& frame) {
  if (frame.coding != Coding::kBaseline && frame.coding != Coding::kExtended) return false;
  if (frame.precision != 8 || frame.color == ColorModel::kUnknown) return false;
  return std::all_of(frame.components.begin(), frame.components.begin() + frame.component_count,
                     [&](const Component& c) { return frame.max_h % c.h == 0 && frame.max_v % c.v == 0; });
}

// A block takes two bits at least, so a header that claims more blocks than the file can hold is not believed: memory
// is asked for only afterwards.
Expected<void> check_plausible(FileBytes file, const Frame& frame) {
  std::uint64_t blocks = 0;
  for (std::uint32_t i = 0; i < frame.component_count; ++i) {
    const Component& component = frame.components[i];
    blocks += std::uint64_t{(component.width + 7) / 8} * ((component.height + 7) / 8);
  }
  if (blocks <= std::uint64_t{file.size()} * 4) return {};
  return corrupt(fmt::format("{} bytes cannot hold {} x {} pixels", file.size(), frame.width, frame.height));
}

Expected<Rect> window_of(const Frame& frame, const DecodeOptions& options) {
  const Rect window = options.window.value_or(Rect{0, 0, frame.width, frame.height});
  if (window.width == 0 || window.height == 0 || window.x >= frame.width || window.y >= frame.height ||
      window.width > frame.width - window.x || window.height > frame.height - window.y) {
    return bad_argument(fmt::format("a window of {} x {} pixels at {}, {} in a picture of {} x {}", window.width,
                                    window.height, window.x, window.y, frame.width, frame.height));
  }
  return window;
}

Expected<Size> size_of(const Rect& window, const DecodeOptions& options) {
  if (!options.resize) return Size{window.width, window.height};
  const Size size = options.resize->size;
  if (size.width == 0 || size.height == 0 || size.width > kMaxDimension || size.height > kMaxDimension) {
    return bad_argument(
        fmt::format("a size of {} x {} pixels; 1 to {} can be made", size.width, size.height, kMaxDimension));
  }
  return size;
}

// Where finished rows go.
struct Target {
  std::span<std::uint8_t> pixels;
  std::size_t stride = 0;
};

Expected<void> check_target(const Target& target, const Size& size, std::uint32_t channels) {
  const std::size_t row = std::size_t{size.width} * channels;
  if (target.stride >= row && target.pixels.size() >= target.stride * (size.height - 1) + row) return {};
  return bad_argument(fmt::format("{} bytes in rows of {} cannot take {} x {} pixels of {} channels",
                                  target.pixels.size(), target.stride, size.width, size.height, channels));
}

// A request that fits its picture.
struct Job {
  Headers headers;
  Rect window;
  Size size;
  bool native = false;
};

Expected<Job> prepare(FileBytes file, const DecodeOptions& options) {
  const auto headers = read_headers(file);
  if (!headers) return std::unexpected(headers.error());
  const auto window = window_of(headers->frame, options);
  if (!window) return std::unexpected(window.error());
  const auto size = size_of(*window, options);
  if (!size) return std::unexpected(size.error());
  Job job{*headers, *window, *size, is_native(headers->frame)};
  if (job.native && !options.tolerant) {
    if (const auto plausible = check_plausible(file, headers->frame); !plausible)
      return std::unexpected(plausible.error());
  }
  return job;
}

}  // namespace

struct Decoder::State {
  PlaneDecoder planes;
  Upsampler upsampler;
  Resizer resizer;
  std::vector<std::uint8_t> rows;  // one row of each channel

  Expected<void> run(FileBytes file, const DecodeOptions& options, const Job& job, const Target& target);
  Expected<void> native(FileBytes file, const DecodeOptions& options, const Job& job, const Target& target);
  Expected<void> by_turbo(FileBytes file, const DecodeOptions& options, const Rect& window, const Target& target);
  ChannelRows row_buffers(std::size_t width, std::uint32_t channels);
};

ChannelRows Decoder::State::row_buffers(std::size_t width, std::uint32_t channels) {
  const std::size_t pitch = width + PixelRows::kPad;
  if (rows.size() < pitch * channels) rows.resize(pitch * channels);
  ChannelRows buffers{};
  for (std::uint32_t c = 0; c < channels; ++c) buffers[c] = rows.data() + c * pitch;
  return buffers;
}

Expected<void> Decoder::State::run(FileBytes file, const DecodeOptions& options, const Job& job, const Target& target) {
  if (options.record) *options.record = Checkpoints();
  if (job.native) {
    const auto done = native(file, options, job, target);
    if (done || done.error().kind == ErrorKind::kArgument) return done;
    if (done.error().kind == ErrorKind::kCorrupt && !options.tolerant) return done;
  }
  return by_turbo(file, options, job.window, target);
}

Expected<void> Decoder::State::native(FileBytes file, const DecodeOptions& options, const Job& job,
                                      const Target& target) {
  const Headers& headers = job.headers;
  const Rect& window = job.window;
  if (const auto done = planes.decode(file, headers, window, options.checkpoints, options.record); !done) return done;
  const std::uint32_t channels = channels_of(headers.frame);
  PixelRows pixel_rows(headers.frame, planes, window, upsampler);
  if (options.resize)
    resizer.begin({window.width, window.height}, *options.resize, channels, target.pixels, target.stride);
  const ChannelRows buffers = row_buffers(window.width, channels);
  for (std::uint32_t y = 0; y < window.height; ++y) {
    if (options.resize) {
      resizer.add(pixel_rows.make(window.y + y, resizer.next_rows()));
    } else {
      interleave(pixel_rows.make(window.y + y, buffers), window.width, channels,
                 target.pixels.data() + y * target.stride);
    }
  }
  return {};
}

Expected<void> Decoder::State::by_turbo(FileBytes file, const DecodeOptions& options, const Rect& window,
                                        const Target& target) {
  const auto whole = decode_by_turbo(file, options.tolerant);
  if (!whole) return std::unexpected(whole.error());
  const std::uint32_t channels = whole->channels;
  if (options.resize)
    resizer.begin({window.width, window.height}, *options.resize, channels, target.pixels, target.stride);
  for (std::uint32_t y = 0; y < window.height; ++y) {
    const std::uint8_t* from = whole->pixels.data() + (std::size_t{window.y + y} * whole->width + window.x) * channels;
    if (!options.resize) {
      std::memcpy(target.pixels.data() + y * target.stride, from, std::size_t{window.width} * channels);
      continue;
    }
    const ChannelRows planar = resizer.next_rows();
    for (std::size_t i = 0; i < window.width; ++i) {
      for (std::uint32_t c = 0; c < channels; ++c) planar[c][i] = *from++;
    }
    resizer.add(planar);
  }
  return {};
}

Decoder::Decoder() : state_(std::make_unique<State>()) {}
Decoder::~Decoder() = default;
Decoder::Decoder(Decoder&&) noexcept = default;
Decoder& Decoder::operator=(Decoder&&) noexcept = default;

Expected<void> Decoder::decode_into(std::span<const std::uint8_t> file, const DecodeOptions& options,
                                    std::span<std::uint8_t> pixels, std::size_t stride) {
  const auto job = prepare(file, options);
  if (!job) return std::unexpected(job.error());
  const Target target{pixels, stride};
  if (const auto fits = check_target(target, job->size, channels_of(job->headers.frame)); !fits) return fits;
  return state_->run(file, options, *job, target);
}

Expected<Picture> Decoder::decode(std::span<const std::uint8_t> file, const DecodeOptions& options) {
  const auto job = prepare(file, options);
  if (!job) return std::unexpected(job.error());
  Picture picture{job->size.width, job->size.height, channels_of(job->headers.frame), {}};
  const std::size_t stride = std::size_t{picture.width} * picture.channels;
  picture.pixels.resize(stride * picture.height);
  if (const auto done = state_->run(file, options, *job, {picture.pixels, stride}); !done) {
    return std::unexpected(done.error());
  }
  return picture;
}

Expected<Header> read_header(std::span<const std::uint8_t> file) {
  const auto headers = read_headers(file);
  if (!headers) return std::unexpected(headers.error());
  const Frame& frame = headers->frame;
  return Header{frame.width, frame.height, frame.component_count, channels_of(frame), frame.coding, is_native(frame)};
}

}  // namespace fullbore::jpeg
