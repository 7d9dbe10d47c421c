#include "feed/image/sample_maker.h"

#include <fmt/core.h>

#include <cstring>

#include "feed/image/erase.h"
#include "feed/image/exif.h"
#include "feed/image/finish.h"
#include "feed/image/geometry.h"

namespace fullbore::image {
namespace {

std::unexpected<SampleFault> fault(const char* stage, std::string reason) {
  return std::unexpected(SampleFault{stage, std::move(reason)});
}

// Decoding gives the bytes of the batch.
bool is_decoded_only(const TransformOptions& transform) {
  return transform.dtype == DType::kUint8 && transform.layout == Layout::kNhwc && transform.steps.empty();
}

bool is_whole(const Rect& part, Size size) {
  return part.width == size.width && part.height == size.height;
}

}  // namespace

Size output_size(const TransformOptions& transform) {
  return size_after(transform.steps, kept_size(transform.geometry));
}

std::size_t sample_bytes(const TransformOptions& transform) {
  const Size size = output_size(transform);
  return std::size_t{size.width} * size.height * 3 * bytes_per_value(transform.dtype);
}

SampleMaker::SampleMaker(const Catalogue& catalogue, ShardFiles& shards, CheckpointStore& checkpoints,
                         const TransformOptions& transform, std::uint64_t max_pixels, const base::Clock& clock)
    : catalogue_(catalogue),
      shards_(shards),
      transform_(transform),
      max_pixels_(max_pixels),
      clock_(clock),
      kept_(kept_size(transform.geometry)),
      out_(output_size(transform)),
      decoders_(make_decoders(checkpoints)),
      steps_(transform.steps, kept_) {}

std::expected<void, SampleFault> SampleMaker::make(const SampleRandom& random, std::byte* out, SampleTimes& times) {
  const std::int64_t begin = clock_.now_ns();
  const auto file = shards_.read_sample(random.sample, file_, path_);
  const std::int64_t have_file = clock_.now_ns();
  times.read_ns += have_file - begin;
  if (!file) return fault("read", file.error().message());

  const bool direct = is_decoded_only(transform_);
  auto decoded = decode(*file, random, direct ? reinterpret_cast<std::uint8_t*>(out) : steps_.input());
  const std::int64_t have_pixels = clock_.now_ns();
  times.decode_ns += have_pixels - have_file;
  if (!decoded || direct) return decoded;

  finish_sample(steps_.run(random), random, out);
  times.finish_ns += clock_.now_ns() - have_pixels;
  return {};
}

void SampleMaker::finish_sample(const std::uint8_t* rgb, const SampleRandom& random, std::byte* out) const {
  finish(rgb, std::size_t{out_.width} * out_.height, transform_, out);
  if (!transform_.erasing) return;
  const std::uint64_t which = transform_.steps.size();  // behind those on 8-bit pixels
  if (const auto part = draw_rectangle(*transform_.erasing, out_, random, which))
    erase_finished(*transform_.erasing, *part, out_, transform_, random, out);
}

void SampleMaker::make_blank(std::byte* out) {
  const std::size_t pixels = std::size_t{out_.width} * out_.height;
  blank_.assign(pixels * 3, 0);
  finish(blank_.data(), pixels, transform_, out);
}

Decoder* SampleMaker::decoder_of(std::span<const std::uint8_t> file) const {
  for (const auto& decoder : decoders_) {
    if (decoder->recognises(file)) return decoder.get();
  }
  return nullptr;
}

std::expected<void, SampleFault> SampleMaker::decode(std::span<const std::uint8_t> file, const SampleRandom& random,
                                                     std::uint8_t* rgb) {
  Decoder* decoder = decoder_of(file);
  if (decoder == nullptr) return fault("decode", fmt::format("{}, which is not decoded here", describe_unknown(file)));
  const auto size = decoder->read_size(file);
  if (!size) return fault("decode", size.error().message());
  if (std::uint64_t{size->width} * size->height > max_pixels_)
    return fault("decode", fmt::format("{} x {} pixels; max_pixels is {}", size->width, size->height, max_pixels_));
  const Turn turn = Turn::of(transform_.exif_orientation ? exif_orientation(file) : 1);
  const View view = view_of(transform_.geometry, turn.size(*size), random);
  const bool flip = transform_.flip > 0 && to_unit(random.block(Draw::kFlip, 0)[0]) < transform_.flip;
  const DecodeJob job{view.window, view.resized, transform_.filter, flip, random.sample, file_.mtime_ns()};
  const auto done = is_whole(view.kept, view.resized)
                        ? upright_.decode(*decoder, file, job, turn, *size, {rgb, std::size_t{kept_.width} * 3})
                        : decode_part(*decoder, file, job, turn, *size, view.kept, rgb);
  if (!done) return fault("decode", done.error().message());
  return {};
}

base::Expected<void> SampleMaker::decode_part(Decoder& decoder, std::span<const std::uint8_t> file,
                                              const DecodeJob& job, const Turn& turn, Size stored, Rect kept,
                                              std::uint8_t* rgb) {
  const std::size_t stride = std::size_t{job.resized.width} * 3;
  resized_.resize(stride * job.resized.height);
  if (auto done = upright_.decode(decoder, file, job, turn, stored, {resized_.data(), stride}); !done) return done;
  if (job.flip) kept.x = job.resized.width - kept.x - kept.width;
  const std::size_t row = std::size_t{kept.width} * 3;
  for (std::uint32_t y = 0; y < kept.height; ++y)
    std::memcpy(rgb + y * row, resized_.data() + (kept.y + y) * stride + std::size_t{kept.x} * 3, row);
  return {};
}

}  // namespace fullbore::image
