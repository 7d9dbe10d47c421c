// Batches of pictures for training, made by threads of C++ from files: read, decode, crop, resize, flip, normalise.
// Which picture stands where, its crop and its flip are functions of (seed, epoch, sample), so batches are equal to the
// last byte for any number of threads, any depth and any place a run was resumed at.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "fullbore/image_fields.h"
#include "fullbore/jpeg.h"

namespace fullbore::image {

using jpeg::Filter;
using jpeg::Rect;
using jpeg::Size;

// What happens to samples that cannot be shared evenly among the ranks.
enum class Uneven : std::uint8_t {
  kPad,   // the first ones of the epoch come again
  kDrop,  // they are left out
};

struct PlanOptions {
  std::uint32_t batch_size = 0;
  std::uint64_t seed = 0;
  bool shuffle = true;
  std::uint32_t rank = 0;
  std::uint32_t world_size = 1;
  bool drop_last = true;  // a last batch that is not full
  Uneven uneven = Uneven::kPad;
};

// A part of 8 to 100 % of the picture, of another shape, made `size`: torchvision's RandomResizedCrop.
struct RandomResizedCrop {
  Size size{224, 224};
  double scale_min = 0.08;  // of the area
  double scale_max = 1.0;
  double ratio_min = 3.0 / 4.0;  // width / height
  double ratio_max = 4.0 / 3.0;
};

// The picture resized as a whole, then its centre: torchvision's Resize and CenterCrop.
struct ResizeCenterCrop {
  std::uint32_t shorter_side = 0;  // after resizing; 0: to `resized` whatever its shape
  Size resized;
  Size crop{224, 224};
};

using Geometry = std::variant<RandomResizedCrop, ResizeCenterCrop>;

enum class DType : std::uint8_t { kUint8, kFloat32, kFloat16, kBfloat16 };
enum class Layout : std::uint8_t { kNchw, kNhwc };

// Both ends belong to it, but for the upper one where a number is drawn.
struct Range {
  double low = 1, high = 1;
};

// What lies outside of a picture: one colour, its outermost pixels, or the picture mirrored without or with these.
enum class PadMode : std::uint8_t { kConstant, kEdge, kReflect, kSymmetric };

// Borders, in pixels: torchvision's Pad.
struct Pad {
  std::uint32_t left = 0, top = 0, right = 0, bottom = 0;
  std::array<std::uint8_t, 3> fill{0, 0, 0};  // for kConstant
  PadMode mode = PadMode::kConstant;
};

// Changes in random order, by factors that are uniform in their range: torchvision's ColorJitter, with Pillow's values.
struct ColorJitter {
  std::optional<Range> brightness = {}, contrast = {}, saturation = {};
  std::optional<Range> hue = {};  // of the circle, -0.5 to 0.5
};

// Gray with probability `p`: torchvision's RandomGrayscale.
struct RandomGrayscale {
  double p = 0.1;
};

// A part overwritten with probability `p`: torchvision's RandomErasing.
struct RandomErasing {
  double p = 0.5;
  double scale_min = 0.02;  // of the area
  double scale_max = 0.33;
  double ratio_min = 0.3;  // height / width
  double ratio_max = 3.3;
  std::optional<std::array<float, 3>> value{{0, 0, 0}};  // none: normal numbers, only after the normalisation
};

using PixelStep = std::variant<Pad, ColorJitter, RandomGrayscale, RandomErasing>;

// (value * scale - mean) / std for each of red, green and blue.
struct Normalise {
  std::array<float, 3> mean{0, 0, 0};
  std::array<float, 3> std{1, 1, 1};
  float scale = 1.0f / 255;
};

struct TransformOptions {
  // Turn pictures upright as their EXIF says, before anything else. torchvision's ImageFolder leaves them as stored.
  bool exif_orientation = false;
  Geometry geometry = RandomResizedCrop{};
  Filter filter = Filter::kBilinear;
  double flip = 0;                    // probability of being mirrored left to right
  std::vector<PixelStep> steps = {};  // then, one after the other, on 8-bit pixels
  // Not for kUint8, which leaves values as they are: 0 to 255.
  Normalise normalise;
  std::optional<RandomErasing> erasing = {};  // of what the normalisation gave, its values included
  DType dtype = DType::kFloat32;
  Layout layout = Layout::kNchw;
};

// What a sample that cannot be read or decoded does.
enum class OnError : std::uint8_t {
  kRaise,    // ends the pass with an error when its batch is asked for; batches before it were handed out
  kSkip,     // another one takes its place, drawn from the data set by (seed, epoch, sample)
  kReplace,  // it becomes a black picture with its own label; Batch::replaced() has its place
};

struct Error {
  std::string message;  // lower case, names what and where
};

template <typename T>
using Expected = std::expected<T, Error>;

// Memory for batches that is not the heap's, such as page-locked memory that a device copies from by itself. All of it
// is taken when the loader is opened.
struct BatchMemory {
  // `bytes` on a 64-byte boundary; given back when the last batch in it is gone.
  std::function<Expected<std::shared_ptr<std::byte>>(std::size_t bytes)> allocate;
  std::size_t batches = 0;  // so many: `depth` and those that the caller keeps at a time, two at least
};

struct LoaderOptions {
  PlanOptions plan;
  TransformOptions transform;
  ColumnOptions columns;
  int threads = 0;  // 0: all cores this process may use but one, at least one
  // Let only so many of them work as the caller's rate needs; found within 200 batches. Batches are the same.
  bool adapt_threads = false;
  int depth = 2;  // batches made ahead of the one that is asked for
  OnError on_error = OnError::kRaise;
  std::uint64_t max_bad = 1000;            // different bad samples that are put up with before the pass ends
  std::uint64_t max_pixels = 178'956'970;  // a picture that has more is a bad one; the number is Pillow's
  std::size_t memory_limit = 4ull << 30;   // bytes of all batches together, those that the caller keeps included
  std::optional<BatchMemory> memory = {};  // in the place of the heap; memory_limit then says nothing
  // The file in which places in JPEGs where decoding can start are kept, about 0.7 % of the data: once a picture has
  // been decoded, it then costs a third less, also in later runs. "auto": beside the data, or in `index_cache` if
  // nothing can be written there; a path; or empty: none. It only ever saves time: without it batches are the same.
  std::string index = "auto";
  std::string index_cache;  // a folder, made if it is not there; empty: none
  // Bytes of memory for them, about 1 kB a picture, where no file can be written. 0: none.
  std::size_t index_memory = 256u << 20;
  // Folder in which the places of the members of tar shards are kept for the next run; made if it is not there. Empty:
  // the shards' headers are read every time.
  std::string listing_cache;
};

struct BadSample {
  std::uint64_t sample = 0;
  std::string path;   // of a member of a shard: SHARD/MEMBER
  std::string stage;  // "read" or "decode"
  std::string reason;
};

// Milliseconds. The first three are summed over the threads, the others are of the clock on the wall.
struct BatchTimes {
  double read_ms = 0;       // opening and reading files
  double decode_ms = 0;     // decoding, cropping, resizing, flipping
  double finish_ms = 0;     // normalising, type, layout
  double make_ms = 0;       // from its first sample begun to its last one finished
  double slot_wait_ms = 0;  // that it could not be begun, because as many batches as `depth` or memory allow were there
  double queue_ms = 0;      // that it was ready before it was asked for
  double wait_ms = 0;       // that the caller waited for it, in wait() and next()
};

struct IndexState {
  std::string path;         // empty: there is none
  std::uint64_t bytes = 0;  // of the file
  std::string problem;      // why there is none, or why nothing more is added; empty if all is well
};

// One batch. Its memory is used again when the last copy of this handle is gone, and outlives the loader.
class FULLBORE_API Batch {
 public:
  struct Held;
  explicit Batch(std::shared_ptr<Held> held) : held_(std::move(held)) {}

  // samples x 3 x height x width or samples x height x width x 3 values without gaps, on a 64-byte boundary.
  std::byte* data() const;
  std::size_t samples() const;
  // All of a sample behind each other: one, but for a list of which more columns are labels.
  // They lie behind the pixels in the same memory.
  std::span<const std::int64_t> labels() const;
  // Numbers of the samples in the data set.
  std::span<const std::uint64_t> ids() const;
  // Places in the batch whose picture is black because its file is bad.
  std::span<const std::uint32_t> replaced() const;
  const BatchTimes& times() const;

 private:
  std::shared_ptr<Held> held_;
};

// Threads that make batches ahead of the caller. One pass at a time; all calls from one thread at a time.
class FULLBORE_API ImageLoader {
 public:
  // `data`: a folder with one folder of pictures per class, a list of files (*.csv, *.jsonl), or tar shards in
  // WebDataset's form: one, a folder of them, a pattern ("train-{0000..0146}.tar").
  static Expected<std::unique_ptr<ImageLoader>> open(const std::string& data, const LoaderOptions& options);
  // Several names of shards; their samples follow each other.
  static Expected<std::unique_ptr<ImageLoader>> open(const std::vector<std::string>& data,
                                                     const LoaderOptions& options);
  ImageLoader(const ImageLoader&) = delete;
  ImageLoader& operator=(const ImageLoader&) = delete;
  // Ends the threads; batches that were handed out stay. In a forked child it leaves everything as it is.
  ~ImageLoader();

  std::uint64_t samples() const;
  // Per pass, of this rank.
  std::uint64_t batches() const;
  // Of all ranks per epoch: left out, and taken twice.
  std::uint64_t dropped() const;
  std::uint64_t padded() const;
  int threads() const;
  // What the threads do and what limits the rate, in sentences, from the batches that were handed out so far.
  std::string explain() const;
  Size picture_size() const;
  // Columns of the list that are labels.
  std::size_t labels_of_each() const;
  // Names that a label is an index of; none where labels are numbers of the list's own.
  const std::vector<std::string>& classes(std::size_t label = 0) const;
  std::vector<std::string> fields() const;
  // Of these samples, in this order. Fails for a field that was not asked for.
  Expected<FieldValues> field(const std::string& name, std::span<const std::uint64_t> ids) const;
  std::string path(std::uint64_t id) const;
  std::int64_t label(std::uint64_t id) const;
  // Of all names and labels: equal for equal data.
  std::uint64_t fingerprint() const;

  // Begins a pass at batch `first` of `epoch`; what was left of the one before is dropped.
  Expected<void> start(std::uint64_t epoch, std::uint64_t first = 0);
  // Whether the next batch, the end or an error is there after at most `patience`.
  bool wait(std::chrono::milliseconds patience);
  // The next batch; waits for it. Empty at the end of the pass. After an error the pass has ended.
  Expected<std::optional<Batch>> next();
  // Ends the pass. Nothing is made until the next start().
  void stop();
  // Ends the threads. What is known of the samples and batches that were handed out stay; no pass can begin.
  void close();
  IndexState index() const;
  // Each bad sample that was met in a batch handed out, once.
  std::vector<BadSample> bad_samples() const;

 private:
  struct State;
  explicit ImageLoader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace fullbore::image
