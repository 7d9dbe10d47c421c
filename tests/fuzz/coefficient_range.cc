#include "tests/fuzz/coefficient_range.h"

#include <csetjmp>
#include <cstdio>
#include <cstdlib>

// jpeglib.h needs FILE and size_t before it.
#include <jpeglib.h>

namespace {

std::jmp_buf escape;

bool block_in_range(const JCOEF* block, const JQUANT_TBL& table) {
  long sum = 0;
  for (int i = 0; i < DCTSIZE2; ++i) {
    const long value = long{block[i]} * table.quantval[i];
    // Quantisation rounds the largest coefficient of 8-bit samples up by half a step at most.
    if (std::labs(value) > 1024 * 2 + table.quantval[i] / 2) return false;
    sum += std::labs(value);
  }
  return sum <= 8191;  // the first pass multiplies by four
}

bool component_in_range(jpeg_decompress_struct& info, jvirt_barray_ptr array, const jpeg_component_info& component) {
  for (JDIMENSION y = 0; y < component.height_in_blocks; ++y) {
    JBLOCKARRAY rows = info.mem->access_virt_barray(reinterpret_cast<j_common_ptr>(&info), array, y, 1, FALSE);
    for (JDIMENSION x = 0; x < component.width_in_blocks; ++x) {
      if (!block_in_range(rows[0][x], *component.quant_table)) return false;
    }
  }
  return true;
}

bool all_in_range(jpeg_decompress_struct& info, fullbore::jpeg::FileBytes file) {
  if (setjmp(escape) != 0) return false;
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, file.data(), static_cast<unsigned long>(file.size()));
  jpeg_read_header(&info, TRUE);
  jvirt_barray_ptr* const arrays = jpeg_read_coefficients(&info);
  for (int i = 0; i < info.num_components; ++i) {
    if (!component_in_range(info, arrays[i], info.comp_info[i])) return false;
  }
  return true;
}

}  // namespace

bool coefficients_in_range(fullbore::jpeg::FileBytes file) {
  jpeg_decompress_struct info{};
  jpeg_error_mgr errors;
  info.err = jpeg_std_error(&errors);
  errors.error_exit = [](j_common_ptr) { std::longjmp(escape, 1); };
  errors.emit_message = [](j_common_ptr, int) {};
  const bool in_range = all_in_range(info, file);
  jpeg_destroy_decompress(&info);
  return in_range;
}
