// include/fullbore/image_loader.h for Python. Everything that may wait gives the GIL back meanwhile.
#include "fullbore/image_loader.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "base/utf8.h"
#include "bindings.h"
#include "image_batches.h"

namespace nb = nanobind;

namespace fullbore::bindings {
namespace {

using image::Batch;
using image::ImageLoader;
using image::LoaderOptions;
using image::TransformOptions;

template <typename T>
T value_or_raise(image::Expected<T> expected) {
  if (!expected) throw std::runtime_error(base::to_utf8(expected.error().message));
  if constexpr (!std::is_void_v<T>) return std::move(*expected);
}

// Ctrl-C is looked for this often.
constexpr std::chrono::milliseconds kPatience{100};

nb::dlpack::dtype dtype_of(image::DType dtype) {
  using Code = nb::dlpack::dtype_code;
  switch (dtype) {
    case image::DType::kUint8:
      return {static_cast<std::uint8_t>(Code::UInt), 8, 1};
    case image::DType::kFloat32:
      return {static_cast<std::uint8_t>(Code::Float), 32, 1};
    case image::DType::kFloat16:
      return {static_cast<std::uint8_t>(Code::Float), 16, 1};
    case image::DType::kBfloat16:
      return {static_cast<std::uint8_t>(Code::Bfloat), 16, 1};
  }
  throw std::logic_error("an unknown type");
}

using OptionalRange = std::optional<std::array<double, 2>>;

std::optional<image::Range> to_range(const OptionalRange& ends) {
  if (!ends) return std::nullopt;
  return image::Range{(*ends)[0], (*ends)[1]};
}

// Arrays keep the batch, so its memory is used again only when the last of them is gone.
nb::ndarray<nb::array_api> pixels(nb::handle self) {
  const auto& [batch, size, transform] = nb::cast<LoadedBatch&>(self);
  const bool planes = transform.layout == image::Layout::kNchw;
  const std::array<std::size_t, 4> shape = {batch.samples(), planes ? 3u : size.height,
                                            planes ? size.height : size.width, planes ? size.width : 3u};
  return nb::ndarray<nb::array_api>(batch.data(), 4, shape.data(), self, nullptr, dtype_of(transform.dtype));
}

nb::ndarray<nb::array_api> labels(nb::handle self) {
  const auto& batch = nb::cast<LoadedBatch&>(self).batch;
  const std::array<std::size_t, 2> shape = {batch.samples(), batch.labels().size() / batch.samples()};
  return nb::ndarray<nb::array_api>(const_cast<std::int64_t*>(batch.labels().data()), shape[1] == 1 ? 1 : 2,
                                    shape.data(), self, nullptr, nb::dtype<std::int64_t>());
}

// An array of its own, or a list of bytes.
nb::object to_python(image::FieldValues values) {
  if (auto* texts = std::get_if<std::vector<std::string>>(&values)) {
    nb::list list;
    for (const std::string& text : *texts) list.append(nb::bytes(text.data(), text.size()));
    return list;
  }
  const auto to_array = [](auto& numbers) -> nb::object {
    using Numbers = std::remove_cvref_t<decltype(numbers)>;
    auto* kept = new Numbers(std::move(numbers));
    const nb::capsule owner(kept, [](void* memory) noexcept { delete static_cast<Numbers*>(memory); });
    const std::size_t count = kept->size();
    return nb::cast(
        nb::ndarray<nb::array_api>(kept->data(), 1, &count, owner, nullptr, nb::dtype<typename Numbers::value_type>()));
  };
  if (auto* whole = std::get_if<std::vector<std::int64_t>>(&values)) return to_array(*whole);
  return to_array(std::get<std::vector<double>>(values));
}

nb::object next_batch(Loader& self) {
  for (bool ready = false; !ready;) {
    {
      const nb::gil_scoped_release waiting;
      ready = self.loader->wait(kPatience);
    }
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  }
  auto batch = value_or_raise(self.loader->next());
  if (!batch) return nb::none();
  return nb::cast(LoadedBatch{std::move(*batch), self.loader->picture_size(), self.transform});
}

void bind_batch(nb::module_& module) {
  using image::BatchTimes;
  nb::class_<BatchTimes>(module, "ImageBatchTimes",
                         "What one batch took, in milliseconds: read_ms, decode_ms and finish_ms summed over threads.")
      .def_ro("read_ms", &BatchTimes::read_ms)
      .def_ro("decode_ms", &BatchTimes::decode_ms)
      .def_ro("finish_ms", &BatchTimes::finish_ms)
      .def_ro("make_ms", &BatchTimes::make_ms)
      .def_ro("slot_wait_ms", &BatchTimes::slot_wait_ms)
      .def_ro("queue_ms", &BatchTimes::queue_ms)
      .def_ro("wait_ms", &BatchTimes::wait_ms);
  nb::class_<LoadedBatch>(module, "ImageBatch", "One batch; arrays made of it keep its memory.")
      .def(
          "pixels", [](nb::handle_t<LoadedBatch> self) { return pixels(self); }, "A 4-D array without a copy.")
      .def(
          "labels", [](nb::handle_t<LoadedBatch> self) { return labels(self); },
          "int64 [samples], or [samples, columns] where more columns are labels; without a copy.")
      .def_prop_ro("samples", [](const LoadedBatch& self) { return self.batch.samples(); })
      .def_prop_ro("ids",
                   [](const LoadedBatch& self) {
                     const auto ids = self.batch.ids();
                     return std::vector<std::uint64_t>(ids.begin(), ids.end());
                   })
      .def_prop_ro("replaced",
                   [](const LoadedBatch& self) {
                     const auto places = self.batch.replaced();
                     return std::vector<std::uint32_t>(places.begin(), places.end());
                   })
      .def_prop_ro("times", [](const LoadedBatch& self) { return self.batch.times(); });
}

void bind_options(nb::module_& module) {
  nb::enum_<image::DType>(module, "ImageDType")
      .value("uint8", image::DType::kUint8)
      .value("float32", image::DType::kFloat32)
      .value("float16", image::DType::kFloat16)
      .value("bfloat16", image::DType::kBfloat16);
  nb::enum_<image::Layout>(module, "ImageLayout")
      .value("NCHW", image::Layout::kNchw)
      .value("NHWC", image::Layout::kNhwc);
  nb::enum_<image::OnError>(module, "ImageOnError")
      .value("raise", image::OnError::kRaise)
      .value("skip", image::OnError::kSkip)
      .value("replace", image::OnError::kReplace);
  nb::enum_<image::Uneven>(module, "ImageUneven").value("pad", image::Uneven::kPad).value("drop", image::Uneven::kDrop);
  nb::enum_<image::PadMode>(module, "ImagePadMode")
      .value("constant", image::PadMode::kConstant)
      .value("edge", image::PadMode::kEdge)
      .value("reflect", image::PadMode::kReflect)
      .value("symmetric", image::PadMode::kSymmetric);
  nb::enum_<image::Filter>(module, "ImageFilter")
      .value("bilinear", image::Filter::kBilinear)
      .value("bicubic", image::Filter::kBicubic);
  nb::class_<LoaderOptions>(module, "ImageLoaderOptions", "include/fullbore/image_loader.h says what each field means.")
      .def(nb::init<>())
      .def_prop_rw(
          "batch_size", [](LoaderOptions& o) { return o.plan.batch_size; },
          [](LoaderOptions& o, std::uint32_t v) { o.plan.batch_size = v; })
      .def_prop_rw(
          "seed", [](LoaderOptions& o) { return o.plan.seed; },
          [](LoaderOptions& o, std::uint64_t v) { o.plan.seed = v; })
      .def_prop_rw(
          "shuffle", [](LoaderOptions& o) { return o.plan.shuffle; },
          [](LoaderOptions& o, bool v) { o.plan.shuffle = v; })
      .def_prop_rw(
          "rank", [](LoaderOptions& o) { return o.plan.rank; },
          [](LoaderOptions& o, std::uint32_t v) { o.plan.rank = v; })
      .def_prop_rw(
          "world_size", [](LoaderOptions& o) { return o.plan.world_size; },
          [](LoaderOptions& o, std::uint32_t v) { o.plan.world_size = v; })
      .def_prop_rw(
          "drop_last", [](LoaderOptions& o) { return o.plan.drop_last; },
          [](LoaderOptions& o, bool v) { o.plan.drop_last = v; })
      .def_prop_rw(
          "uneven", [](LoaderOptions& o) { return o.plan.uneven; },
          [](LoaderOptions& o, image::Uneven v) { o.plan.uneven = v; })
      .def_prop_rw(
          "filter", [](LoaderOptions& o) { return o.transform.filter; },
          [](LoaderOptions& o, image::Filter v) { o.transform.filter = v; })
      .def_prop_rw(
          "flip", [](LoaderOptions& o) { return o.transform.flip; },
          [](LoaderOptions& o, double v) { o.transform.flip = v; })
      .def_prop_rw(
          "dtype", [](LoaderOptions& o) { return o.transform.dtype; },
          [](LoaderOptions& o, image::DType v) { o.transform.dtype = v; })
      .def_prop_rw(
          "layout", [](LoaderOptions& o) { return o.transform.layout; },
          [](LoaderOptions& o, image::Layout v) { o.transform.layout = v; })
      .def_prop_rw(
          "exif_orientation", [](LoaderOptions& o) { return o.transform.exif_orientation; },
          [](LoaderOptions& o, bool v) { o.transform.exif_orientation = v; })
      .def_prop_rw(
          "label_columns", [](LoaderOptions& o) { return o.columns.labels; },
          [](LoaderOptions& o, std::vector<std::string> v) { o.columns.labels = std::move(v); })
      .def_prop_rw(
          "field_columns", [](LoaderOptions& o) { return o.columns.fields; },
          [](LoaderOptions& o, std::vector<std::string> v) { o.columns.fields = std::move(v); })
      .def_prop_rw(
          "all_fields", [](LoaderOptions& o) { return o.columns.all_fields; },
          [](LoaderOptions& o, bool v) { o.columns.all_fields = v; })
      .def_rw("threads", &LoaderOptions::threads)
      .def_rw("adapt_threads", &LoaderOptions::adapt_threads)
      .def_rw("depth", &LoaderOptions::depth)
      .def_rw("on_error", &LoaderOptions::on_error)
      .def_rw("max_bad", &LoaderOptions::max_bad)
      .def_rw("max_pixels", &LoaderOptions::max_pixels)
      .def_rw("index", &LoaderOptions::index)
      .def_rw("index_cache", &LoaderOptions::index_cache)
      .def_rw("index_memory", &LoaderOptions::index_memory)
      .def_rw("memory_limit", &LoaderOptions::memory_limit)
      .def_rw("listing_cache", &LoaderOptions::listing_cache)
      .def(
          "random_resized_crop",
          [](LoaderOptions& o, std::uint32_t height, std::uint32_t width, std::array<double, 2> scale,
             std::array<double, 2> ratio) {
            o.transform.geometry = image::RandomResizedCrop{{width, height}, scale[0], scale[1], ratio[0], ratio[1]};
          },
          nb::arg("height"), nb::arg("width"), nb::arg("scale"), nb::arg("ratio"))
      .def(
          "resize_center_crop",
          [](LoaderOptions& o, std::uint32_t shorter_side, std::array<std::uint32_t, 2> resized,
             std::array<std::uint32_t, 2> crop) {
            o.transform.geometry = image::ResizeCenterCrop{shorter_side, {resized[1], resized[0]}, {crop[1], crop[0]}};
          },
          nb::arg("shorter_side"), nb::arg("resized"), nb::arg("crop"),
          "Sizes are (height, width). shorter_side 0: to `resized` whatever the shape.")
      .def(
          "normalise",
          [](LoaderOptions& o, std::array<float, 3> mean, std::array<float, 3> std) {
            o.transform.normalise.mean = mean;
            o.transform.normalise.std = std;
          },
          nb::arg("mean"), nb::arg("std"))
      .def_prop_rw(
          "scale", [](LoaderOptions& o) { return o.transform.normalise.scale; },
          [](LoaderOptions& o, float v) { o.transform.normalise.scale = v; })
      .def(
          "pad",
          [](LoaderOptions& o, std::array<std::uint32_t, 4> borders, std::array<std::uint8_t, 3> fill,
             image::PadMode mode) {
            o.transform.steps.push_back(image::Pad{borders[0], borders[1], borders[2], borders[3], fill, mode});
          },
          nb::arg("borders"), nb::arg("fill"), nb::arg("mode"), "Borders are left, top, right, bottom.")
      .def(
          "color_jitter",
          [](LoaderOptions& o, OptionalRange brightness, OptionalRange contrast, OptionalRange saturation,
             OptionalRange hue) {
            o.transform.steps.push_back(
                image::ColorJitter{to_range(brightness), to_range(contrast), to_range(saturation), to_range(hue)});
          },
          nb::arg("brightness").none(), nb::arg("contrast").none(), nb::arg("saturation").none(), nb::arg("hue").none())
      .def(
          "random_grayscale",
          [](LoaderOptions& o, double p) { o.transform.steps.push_back(image::RandomGrayscale{p}); }, nb::arg("p"))
      .def(
          "random_erasing",
          [](LoaderOptions& o, double p, std::array<double, 2> scale, std::array<double, 2> ratio,
             std::optional<std::array<float, 3>> value, bool finished) {
            const image::RandomErasing erasing{p, scale[0], scale[1], ratio[0], ratio[1], value};
            if (finished) {
              o.transform.erasing = erasing;
            } else {
              o.transform.steps.push_back(erasing);
            }
          },
          nb::arg("p"), nb::arg("scale"), nb::arg("ratio"), nb::arg("value").none(), nb::arg("finished"),
          "`finished`: after the normalisation. No value: normal numbers.");
}

}  // namespace

void bind_image_loader(nb::module_& module) {
  using Wait = nb::call_guard<nb::gil_scoped_release>;
  bind_options(module);
  bind_batch(module);
  nb::class_<Loader>(module, "ImageLoader", "Threads that make batches of pictures ahead of the caller.")
      .def(
          "__init__",
          [](Loader* self, const std::vector<std::string>& data, const LoaderOptions& options) {
            new (self) Loader{value_or_raise(ImageLoader::open(data, options)), options.transform};
          },
          nb::arg("data"), nb::arg("options"), Wait(),
          "Lists the data, one name or several of tar shards, and starts the threads.")
      .def(
          "start",
          [](Loader& self, std::uint64_t epoch, std::uint64_t first) {
            value_or_raise(self.loader->start(epoch, first));
          },
          nb::arg("epoch"), nb::arg("first"), Wait(), "Begins a pass at batch `first`; ends the one before.")
      .def(
          "ready", [](Loader& self) { return self.loader->wait(std::chrono::milliseconds(0)); },
          "Whether next() would not wait.")
      .def("next", &next_batch, "The next ImageBatch, or None at the end. Ctrl-C ends the wait.")
      .def(
          "stop", [](Loader& self) { self.loader->stop(); }, Wait(), "Ends the pass.")
      .def(
          "close", [](Loader& self) { self.loader->close(); }, Wait(),
          "Ends the threads, after the samples under way. What is known of the samples stays.")
      .def("path", [](const Loader& self, std::uint64_t id) { return nb::bytes(self.loader->path(id).c_str()); })
      .def_prop_ro("samples", [](const Loader& self) { return self.loader->samples(); })
      .def_prop_ro("batches", [](const Loader& self) { return self.loader->batches(); })
      .def_prop_ro("dropped", [](const Loader& self) { return self.loader->dropped(); })
      .def_prop_ro("padded", [](const Loader& self) { return self.loader->padded(); })
      .def_prop_ro("threads", [](const Loader& self) { return self.loader->threads(); })
      .def("explain", [](const Loader& self) { return self.loader->explain(); })
      .def_prop_ro("fingerprint", [](const Loader& self) { return self.loader->fingerprint(); })
      .def_prop_ro(
          "classes",
          [](const Loader& self) {
            nb::list columns;
            for (std::size_t i = 0; i < self.loader->labels_of_each(); ++i) {
              nb::list names;
              for (const std::string& name : self.loader->classes(i)) names.append(nb::bytes(name.c_str()));
              columns.append(names);
            }
            return columns;
          },
          "Per column of labels.")
      .def_prop_ro("fields",
                   [](const Loader& self) {
                     nb::list names;
                     for (const std::string& name : self.loader->fields())
                       names.append(nb::bytes(name.data(), name.size()));
                     return names;
                   })
      .def(
          "field",
          [](const Loader& self, const nb::bytes& name, const std::vector<std::uint64_t>& ids) {
            return to_python(value_or_raise(self.loader->field({name.c_str(), name.size()}, ids)));
          },
          nb::arg("name"), nb::arg("ids"), "An array of int64 or float64, or a list of bytes.")
      .def_prop_ro("index",
                   [](const Loader& self) {
                     const auto [path, bytes, problem] = self.loader->index();
                     return nb::make_tuple(nb::bytes(path.c_str()), bytes, nb::bytes(problem.c_str()));
                   })
      .def_prop_ro("bad_samples", [](const Loader& self) {
        nb::list bad;
        for (const auto& [sample, path, stage, reason] : self.loader->bad_samples())
          bad.append(nb::make_tuple(sample, nb::bytes(path.c_str()), stage, reason));
        return bad;
      });
}

}  // namespace fullbore::bindings
