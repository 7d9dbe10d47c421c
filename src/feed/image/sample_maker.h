// One sample from its file to its place in a batch. Belongs to one thread and keeps that thread's buffers and decoders.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "feed/image/catalogue.h"
#include "feed/image/decoder.h"
#include "feed/image/file_bytes.h"
#include "feed/image/philox.h"
#include "feed/image/pixel_steps.h"
#include "feed/image/shard_files.h"
#include "feed/image/upright.h"

namespace fullbore::image {

struct SampleFault {
  const char* stage = "";  // "read" or "decode"
  std::string reason;
};

struct SampleTimes {
  std::int64_t read_ns = 0;
  std::int64_t decode_ns = 0;
  std::int64_t finish_ns = 0;
};

class SampleMaker {
 public:
  // `catalogue`, `shards`, `checkpoints` and `clock`, which times the stages, must outlive it.
  SampleMaker(const Catalogue& catalogue, ShardFiles& shards, CheckpointStore& checkpoints,
              const TransformOptions& transform, std::uint64_t max_pixels, const base::Clock& clock);

  // Writes sample_bytes() to `out`; adds to `times`.
  std::expected<void, SampleFault> make(const SampleRandom& random, std::byte* out, SampleTimes& times);
  // A black picture.
  void make_blank(std::byte* out);

 private:
  std::expected<void, SampleFault> decode(std::span<const std::uint8_t> file, const SampleRandom& random,
                                          std::uint8_t* rgb);
  void finish_sample(const std::uint8_t* rgb, const SampleRandom& random, std::byte* out) const;
  Decoder* decoder_of(std::span<const std::uint8_t> file) const;
  // Decodes into rows of the resized picture and keeps its centre.
  base::Expected<void> decode_part(Decoder& decoder, std::span<const std::uint8_t> file, const DecodeJob& job,
                                   const Turn& turn, Size stored, Rect kept, std::uint8_t* rgb);

  const Catalogue& catalogue_;
  ShardFiles& shards_;
  const TransformOptions transform_;
  const std::uint64_t max_pixels_;
  const base::Clock& clock_;
  const Size kept_, out_;  // before and after the steps on pixels
  std::vector<std::unique_ptr<Decoder>> decoders_;
  UprightDecoder upright_;
  FileBytes file_;
  std::string path_;
  PixelSteps steps_;
  std::vector<std::uint8_t> resized_;  // before its centre is cut out
  std::vector<std::uint8_t> blank_;
};

Size output_size(const TransformOptions& transform);
std::size_t sample_bytes(const TransformOptions& transform);

}  // namespace fullbore::image
