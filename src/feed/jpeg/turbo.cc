#include "feed/jpeg/turbo.h"

#include <cctype>
#include <csetjmp>
#include <cstdio>

// jpeglib.h needs FILE and size_t before it.
#include <jpeglib.h>

namespace fullbore::jpeg {
namespace {

struct ErrorManager {
  jpeg_error_mgr base;  // first: libjpeg-turbo gives back a pointer to it
  std::jmp_buf escape;
  char message[JMSG_LENGTH_MAX];
  bool warned;
};

ErrorManager& manager(j_common_ptr info) {
  return *reinterpret_cast<ErrorManager*>(info->err);
}

void on_error(j_common_ptr info) {
  info->err->format_message(info, manager(info).message);
  std::longjmp(manager(info).escape, 1);
}

void on_message(j_common_ptr info, int level) {
  if (level >= 0 || manager(info).warned) return;
  manager(info).warned = true;
  info->err->format_message(info, manager(info).message);
}

// Nothing with a destructor lives here: errors leave by longjmp. False: see the manager's message.
bool decode(jpeg_decompress_struct& info, ErrorManager& errors, FileBytes file, Picture& picture) {
  if (setjmp(errors.escape) != 0) return false;
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, file.data(), static_cast<unsigned long>(file.size()));
  jpeg_read_header(&info, TRUE);
  info.out_color_space = info.num_components == 4 ? JCS_CMYK : JCS_RGB;
  info.dct_method = JDCT_ISLOW;
  jpeg_start_decompress(&info);
  picture.width = info.output_width;
  picture.height = info.output_height;
  picture.channels = static_cast<std::uint32_t>(info.output_components);
  picture.pixels.resize(std::size_t{picture.width} * picture.height * picture.channels);
  while (info.output_scanline < info.output_height) {
    JSAMPROW row = picture.pixels.data() + std::size_t{info.output_scanline} * picture.width * picture.channels;
    jpeg_read_scanlines(&info, &row, 1);
  }
  jpeg_finish_decompress(&info);
  return true;
}

}  // namespace

Expected<Picture> decode_by_turbo(FileBytes file, bool tolerant) {
  jpeg_decompress_struct info{};
  ErrorManager errors{};
  info.err = jpeg_std_error(&errors.base);
  errors.base.error_exit = on_error;
  errors.base.emit_message = on_message;
  Picture picture;
  const bool whole = decode(info, errors, file, picture);
  jpeg_destroy_decompress(&info);
  if (whole && (tolerant || !errors.warned)) return picture;
  std::string message = errors.message;
  if (!message.empty()) message[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(message[0])));
  return corrupt("libjpeg-turbo: " + message);
}

}  // namespace fullbore::jpeg
