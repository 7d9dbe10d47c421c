// include/fullbore/jpeg.h for Python. Decoding gives the GIL back; each thread keeps a decoder with its buffers.
#include <fullbore/jpeg.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include "bindings.h"

namespace nb = nanobind;

namespace fullbore::bindings {
namespace {

using jpeg::Checkpoints;
using Bytes = std::span<const std::uint8_t>;
using Box = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t>;
using Pixels = nb::ndarray<nb::numpy, std::uint8_t, nb::ndim<3>, nb::c_contig>;

template <typename T>
T value_or_raise(jpeg::Expected<T> expected) {
  if (!expected) throw nb::value_error(expected.error().message.c_str());
  return std::move(*expected);
}

// Any object with a buffer of bytes; held, so that nobody resizes it meanwhile.
class Buffer {
 public:
  explicit Buffer(nb::handle object) {
    if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_SIMPLE) != 0) throw nb::python_error();
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { PyBuffer_Release(&view_); }

  Bytes bytes() const { return {static_cast<const std::uint8_t*>(view_.buf), static_cast<std::size_t>(view_.len)}; }

 private:
  Py_buffer view_{};
};

jpeg::Filter filter_named(const std::string& name) {
  if (name == "bilinear") return jpeg::Filter::kBilinear;
  if (name == "bicubic") return jpeg::Filter::kBicubic;
  throw nb::value_error(("no filter '" + name + "'; there are bilinear and bicubic").c_str());
}

// (height, width, channels), owned by the array.
Pixels as_array(jpeg::Picture picture) {
  auto* kept = new std::vector<std::uint8_t>(std::move(picture.pixels));
  const nb::capsule owner(kept, [](void* pixels) noexcept { delete static_cast<std::vector<std::uint8_t>*>(pixels); });
  return Pixels(kept->data(), {picture.height, picture.width, picture.channels}, owner);
}

jpeg::Picture decode(Bytes file, const jpeg::DecodeOptions& options) {
  thread_local jpeg::Decoder decoder;
  const nb::gil_scoped_release others_may_run;
  auto picture = decoder.decode(file, options);
  const nb::gil_scoped_acquire again;
  return value_or_raise(std::move(picture));
}

Pixels decode_jpeg(nb::object data, std::optional<Box> crop,
                   std::optional<std::tuple<std::uint32_t, std::uint32_t>> size, const std::string& filter, bool flip,
                   bool tolerant, std::optional<nb::bytes> checkpoints) {
  const Buffer file(data);
  jpeg::DecodeOptions options{.tolerant = tolerant};
  if (crop) {
    const auto [top, left, height, width] = *crop;
    options.window = jpeg::Rect{left, top, width, height};
  }
  if (size || flip) {
    const jpeg::Header header = value_or_raise(jpeg::read_header(file.bytes()));
    const jpeg::Rect window = options.window.value_or(jpeg::Rect{0, 0, header.width, header.height});
    const auto [height, width] = size.value_or(std::tuple(window.height, window.width));
    options.resize = jpeg::Resize{{width, height}, filter_named(filter), flip};
  }
  std::optional<Checkpoints> known;
  if (checkpoints) {
    const auto* first = static_cast<const std::uint8_t*>(checkpoints->data());
    known = value_or_raise(Checkpoints::parse(Bytes(first, checkpoints->size())));
    options.checkpoints = &*known;
  }
  return as_array(decode(file.bytes(), options));
}

nb::bytes jpeg_checkpoints(nb::object data) {
  const Buffer file(data);
  Checkpoints found;
  // The least of a picture: the scan is read to its end for the checkpoints in any case.
  decode(file.bytes(), {.window = jpeg::Rect{0, 0, 1, 1}, .record = &found});
  const std::vector<std::uint8_t> bytes = found.empty() ? std::vector<std::uint8_t>() : found.serialise();
  return nb::bytes(bytes.data(), bytes.size());
}

const char* name_of(jpeg::Coding coding) {
  switch (coding) {
    case jpeg::Coding::kBaseline:
      return "baseline";
    case jpeg::Coding::kExtended:
      return "extended";
    case jpeg::Coding::kProgressive:
      return "progressive";
    case jpeg::Coding::kOther:
      break;
  }
  return "other";
}

}  // namespace

void bind_jpeg(nb::module_& module) {
  nb::class_<jpeg::Header>(module, "JpegHeader", "What the markers before the first scan of a JPEG say.")
      .def_ro("height", &jpeg::Header::height, "Pixels.")
      .def_ro("width", &jpeg::Header::width, "Pixels.")
      .def_ro("components", &jpeg::Header::components, "1 (gray), 3 or 4.")
      .def_ro("channels", &jpeg::Header::channels, "Of the decoded picture: 3 (RGB), or 4 (CMYK as stored).")
      .def_ro("native", &jpeg::Header::native, "Decoded by Fullbore's own decoder, not by libjpeg-turbo.")
      .def_prop_ro(
          "coding", [](const jpeg::Header& header) { return name_of(header.coding); },
          "'baseline', 'extended', 'progressive' or 'other'.");
  module.def(
      "jpeg_header", [](nb::object data) { return value_or_raise(jpeg::read_header(Buffer(data).bytes())); },
      nb::arg("data"));
  module.def("jpeg_checkpoints", jpeg_checkpoints, nb::arg("data"));
  module.def("decode_jpeg", decode_jpeg, nb::arg("data"), nb::kw_only(), nb::arg("crop") = nb::none(),
             nb::arg("size") = nb::none(), nb::arg("filter") = "bilinear", nb::arg("flip") = false,
             nb::arg("tolerant") = false, nb::arg("checkpoints") = nb::none());
}

}  // namespace fullbore::bindings
