// Making the index of a data set at once, or checking one: what a first epoch would do, without the pictures.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/error.h"

namespace fullbore::image {

struct IndexBuildOptions {
  std::string index = "auto";  // this and the next two as in LoaderOptions
  std::string index_cache = "";
  std::string listing_cache = "";
  int threads = 0;     // 0: all cores this process may use
  bool check = false;  // compare what is there with the files and write nothing
};

struct IndexReport {
  std::string path;
  std::uint64_t index_bytes = 0;
  std::uint64_t pictures = 0;
  std::uint64_t data_bytes = 0;
  std::uint64_t baseline = 0;     // JPEGs whose crops are decoded alone
  std::uint64_t progressive = 0;  // JPEGs that are decoded whole
  std::uint64_t other = 0;        // JPEGs of other kinds, and other formats
  std::uint64_t bad = 0;          // cannot be read, or damaged
  std::string first_bad;          // path and reason
  std::uint64_t known = 0;        // were in the index as they are now
  std::uint64_t added = 0;
  std::uint64_t missing = 0;  // when checking: baseline, and not in the index as they are now
  std::uint64_t wrong = 0;    // when checking: in it with other checkpoints than their file has
};

// Called from the thread that called, a few times a second.
using IndexProgress = std::function<void(std::uint64_t done, std::uint64_t pictures)>;

// `data` as for ImageLoader::open. What is known is not made again, so it may be interrupted and go on later. Fails
// when the data cannot be listed or the index not be written.
base::Expected<IndexReport> build_index(const std::string& data, const IndexBuildOptions& options,
                                        const IndexProgress& progress);

}  // namespace fullbore::image
