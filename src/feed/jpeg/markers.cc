#include "feed/jpeg/markers.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>

namespace fullbore::jpeg {
namespace {

enum Marker : std::uint8_t {
  kSof0 = 0xc0,
  kSof1 = 0xc1,
  kSof2 = 0xc2,
  kDht = 0xc4,
  kJpg = 0xc8,
  kDac = 0xcc,
  kSof15 = 0xcf,
  kRst0 = 0xd0,
  kRst7 = 0xd7,
  kSoi = 0xd8,
  kEoi = 0xd9,
  kSos = 0xda,
  kDqt = 0xdb,
  kDnl = 0xdc,
  kDri = 0xdd,
  kApp0 = 0xe0,
  kApp14 = 0xee,
  kApp15 = 0xef,
  kCom = 0xfe,
  kTem = 0x01,
};

// The content of one segment; reading past it gives nothing, which the caller reports once.
class Segment {
 public:
  explicit Segment(FileBytes content) : content_(content) {}

  std::size_t left() const { return content_.size(); }
  std::optional<std::uint32_t> byte() {
    if (content_.empty()) return std::nullopt;
    const std::uint8_t value = content_.front();
    content_ = content_.subspan(1);
    return value;
  }
  std::optional<std::uint32_t> word() {
    if (content_.size() < 2) return std::nullopt;
    const auto value = static_cast<std::uint32_t>(content_[0] << 8 | content_[1]);
    content_ = content_.subspan(2);
    return value;
  }
  std::optional<FileBytes> take(std::size_t count) {
    if (content_.size() < count) return std::nullopt;
    const FileBytes taken = content_.first(count);
    content_ = content_.subspan(count);
    return taken;
  }
  bool starts_with(std::string_view text) const {
    return content_.size() >= text.size() &&
           std::equal(text.begin(), text.end(), content_.begin(), [](char a, std::uint8_t b) { return a == b; });
  }

 private:
  FileBytes content_;
};

std::unexpected<Error> bad_segment(std::string_view name) {
  return corrupt(fmt::format("the {} segment is cut short or holds impossible values", name));
}

class Parser {
 public:
  Parser(FileBytes file, std::size_t offset, Headers& headers) : file_(file), at_(offset), headers_(headers) {}

  // True at a scan, false at the end of the picture.
  Expected<bool> run();
  bool saw_frame() const { return headers_.frame.width != 0; }
  void guess_color();

 private:
  Expected<std::uint8_t> marker();
  Expected<void> segment(std::uint8_t marker, Segment content);
  Expected<void> quant_tables(Segment content);
  Expected<void> huffman_tables(Segment content);
  Expected<void> arithmetic_conditioning(Segment content);
  Expected<void> frame(std::uint8_t marker, Segment content);
  Expected<void> scan(Segment content);
  void application(std::uint8_t marker, Segment content);

  FileBytes file_;
  std::size_t at_;
  Headers& headers_;
  bool jfif_ = false;
  std::optional<std::uint32_t> adobe_transform_;
};

Expected<std::uint8_t> Parser::marker() {
  if (at_ >= file_.size() || file_[at_] != 0xff) {
    return corrupt(fmt::format("no marker at byte {} of {}", at_, file_.size()));
  }
  while (at_ < file_.size() && file_[at_] == 0xff) ++at_;  // fill bytes
  if (at_ == file_.size()) return corrupt("the file ends inside a marker");
  return file_[at_++];
}

Expected<bool> Parser::run() {
  for (;;) {
    const auto code = marker();
    if (!code) return std::unexpected(code.error());
    if (*code == kEoi) return false;
    if (*code == kTem || (*code >= kRst0 && *code <= kRst7))
      continue;  // without content, passed over as by libjpeg-turbo
    if (*code == kSoi || *code == 0) {
      return corrupt(fmt::format("marker 0x{:02x} at byte {} where a segment is due", *code, at_ - 1));
    }
    if (file_.size() - at_ < 2) return corrupt("the file ends inside a segment");
    const auto length = static_cast<std::size_t>(file_[at_] << 8 | file_[at_ + 1]);
    if (length < 2 || file_.size() - at_ < length) {
      return corrupt(
          fmt::format("the segment at byte {} claims {} bytes, the file has {}", at_, length, file_.size() - at_));
    }
    const Segment content(file_.subspan(at_ + 2, length - 2));
    at_ += length;
    if (const auto done = segment(*code, content); !done) return std::unexpected(done.error());
    if (*code == kSos) return true;
  }
}

Expected<void> Parser::segment(std::uint8_t marker, Segment content) {
  if (marker == kDqt) return quant_tables(content);
  if (marker == kDht) return huffman_tables(content);
  if (marker == kDac) return arithmetic_conditioning(content);
  if (marker == kSos) return scan(content);
  if (marker == kDri) {
    const auto interval = content.word();
    if (!interval || content.left() != 0) return bad_segment("DRI");
    headers_.scan.restart_interval = *interval;
    return {};
  }
  if (marker >= kApp0 && marker <= kApp15) {
    application(marker, content);
    return {};
  }
  if (marker == kCom || marker == kDnl) return {};
  if (marker >= kSof0 && marker <= kSof15 && marker != kJpg) return frame(marker, content);
  return corrupt(fmt::format("unknown marker 0x{:02x}", marker));
}

Expected<void> Parser::quant_tables(Segment content) {
  while (content.left() != 0) {
    const std::uint32_t kind = content.byte().value_or(0);
    const std::size_t width = kind >> 4 ? 2 : 1;
    const auto values = content.take(kBlockSize * width);
    if (!values || (kind & 15) > 3) return bad_segment("DQT");
    QuantTable& table = headers_.quant[kind & 15].emplace();
    for (std::size_t i = 0; i < kBlockSize; ++i) {
      table[i] = width == 1 ? (*values)[i] : static_cast<std::uint16_t>((*values)[2 * i] << 8 | (*values)[2 * i + 1]);
    }
  }
  return {};
}

Expected<void> Parser::huffman_tables(Segment content) {
  while (content.left() != 0) {
    const std::uint32_t kind = content.byte().value_or(0);
    const auto counts = content.take(16);
    if (!counts || (kind & 15) > 3 || kind >> 4 > 1) return bad_segment("DHT");
    HuffmanSpec spec;
    std::size_t total = 0;
    for (std::size_t i = 0; i < 16; ++i) total += spec.counts[i] = (*counts)[i];
    const auto symbols = content.take(total);
    if (total > 256 || !symbols) return bad_segment("DHT");
    std::copy(symbols->begin(), symbols->end(), spec.symbols.begin());
    (kind >> 4 ? headers_.ac : headers_.dc)[kind & 15] = spec;
  }
  return {};
}

// Of no use here, but libjpeg-turbo refuses a picture for it (T.81, B.2.4.3).
Expected<void> Parser::arithmetic_conditioning(Segment content) {
  while (content.left() != 0) {
    const std::uint32_t table = content.byte().value_or(0);
    const auto value = content.byte();
    if (!value || table >= 32 || (table < 16 && (*value & 15) > *value >> 4)) return bad_segment("DAC");
  }
  return {};
}

Expected<void> Parser::frame(std::uint8_t marker, Segment content) {
  if (saw_frame()) return corrupt("a second frame header");
  Frame& frame = headers_.frame;
  frame.coding = marker == kSof0   ? Coding::kBaseline
                 : marker == kSof1 ? Coding::kExtended
                 : marker == kSof2 ? Coding::kProgressive
                                   : Coding::kOther;
  const auto precision = content.byte(), height = content.word(), width = content.word(), count = content.byte();
  if (!count || content.left() != *count * 3) return bad_segment("SOF");
  if (*width == 0 || *height == 0 || *width > kMaxDimension || *height > kMaxDimension) {
    return corrupt(fmt::format("a picture of {} x {} pixels; 1 to {} can be decoded", *width, *height, kMaxDimension));
  }
  if (*count == 0 || *count > kMaxComponents) return unsupported(fmt::format("a picture of {} components", *count));
  frame.precision = static_cast<std::uint8_t>(*precision);
  frame.component_count = *count;
  for (std::uint32_t i = 0; i < *count; ++i) {
    Component& component = frame.components[i];
    component.id = static_cast<std::uint8_t>(*content.byte());
    const std::uint32_t sampling = *content.byte();
    component.h = static_cast<std::uint8_t>(sampling >> 4);
    component.v = static_cast<std::uint8_t>(sampling & 15);
    component.quant = static_cast<std::uint8_t>(*content.byte());
    if (component.h - 1u > 3 || component.v - 1u > 3) return bad_segment("SOF");
    frame.max_h = std::max<std::uint32_t>(frame.max_h, component.h);
    frame.max_v = std::max<std::uint32_t>(frame.max_v, component.v);
  }
  for (Component& component : frame.components) {
    component.width = (*width * component.h + frame.max_h - 1) / frame.max_h;
    component.height = (*height * component.v + frame.max_v - 1) / frame.max_v;
  }
  frame.width = *width;
  frame.height = *height;
  return {};
}

Expected<void> Parser::scan(Segment content) {
  if (!saw_frame()) return corrupt("a scan before the frame header");
  const Frame& frame = headers_.frame;
  ScanHeader& scan = headers_.scan;
  const auto count = content.byte();
  if (!count || *count == 0 || *count > frame.component_count || content.left() != *count * 2 + 3) {
    return bad_segment("SOS");
  }
  scan.component_count = *count;
  for (std::uint32_t i = 0; i < *count; ++i) {
    const std::uint32_t id = *content.byte(), tables = *content.byte();
    const auto end = frame.components.begin() + frame.component_count;
    const auto found = std::find_if(frame.components.begin(), end, [&](const Component& c) { return c.id == id; });
    if (found == end || (tables >> 4) > 3 || (tables & 15) > 3) return bad_segment("SOS");
    scan.component[i] = static_cast<std::uint8_t>(found - frame.components.begin());
    // In the order of the frame (T.81, B.2.3), which libjpeg-turbo insists on.
    if (i != 0 && scan.component[i] < scan.component[i - 1]) return bad_segment("SOS");
    scan.dc_table[i] = static_cast<std::uint8_t>(tables >> 4);
    scan.ac_table[i] = static_cast<std::uint8_t>(tables & 15);
  }
  scan.all_coefficients = *content.byte() == 0 && *content.byte() == 63 && *content.byte() == 0;
  scan.data = at_;
  return {};
}

void Parser::application(std::uint8_t marker, Segment content) {
  if (marker == kApp0 && content.left() >= 14 && content.starts_with({"JFIF\0", 5})) jfif_ = true;
  if (marker == kApp14 && content.left() >= 12 && content.starts_with("Adobe")) {
    content.take(11);
    adobe_transform_ = content.byte();
  }
}

void Parser::guess_color() {
  Frame& frame = headers_.frame;
  const auto ids = [&](std::uint8_t a, std::uint8_t b, std::uint8_t c) {
    return frame.components[0].id == a && frame.components[1].id == b && frame.components[2].id == c;
  };
  switch (frame.component_count) {
    case 1:
      frame.color = ColorModel::kGray;
      break;
    case 3:
      frame.color = ColorModel::kYcc;
      if (!jfif_ && (adobe_transform_ ? *adobe_transform_ == 0 : ids('R', 'G', 'B'))) frame.color = ColorModel::kRgb;
      break;
    case 4:
      frame.color = adobe_transform_.value_or(0) == 0 ? ColorModel::kCmyk : ColorModel::kYcck;
      break;
    default:
      frame.color = ColorModel::kUnknown;
  }
}

}  // namespace

Expected<Headers> read_headers(FileBytes file) {
  if (file.size() < 4 || file[0] != 0xff || file[1] != kSoi) return corrupt("not a JPEG: it does not begin with FF D8");
  Headers headers;
  Parser parser(file, 2, headers);
  const auto scan = parser.run();
  if (!scan) return std::unexpected(scan.error());
  if (!*scan) return corrupt("the picture ends before its first scan");
  parser.guess_color();
  return headers;
}

Expected<bool> next_scan(FileBytes file, std::size_t offset, Headers& headers) {
  return Parser(file, offset, headers).run();
}

}  // namespace fullbore::jpeg
