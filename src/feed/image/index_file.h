// One index file of a data set: read by any number of processes, added to by one at a time. It is read with pread, not
// mapped: a mapping ends the process by SIGBUS when the file is cut or its disk fails, and pread costs 1 us a picture.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/unique_fd.h"
#include "feed/image/index_format.h"
#include "fullbore/jpeg.h"

namespace fullbore::image {

// read_new() and add() are for one thread at a time; load() for any, of records that it was told of.
class IndexFile {
 public:
  using Found = std::function<void(const IndexRecord&)>;

  // What is there already is not looked at before read_new(). A file that is not there is made by the first add(); one
  // that may not be written is for reading alone. An index of another version, or with a damaged head, is begun anew;
  // what is no index is refused and left as it is.
  static base::Expected<IndexFile> open(const std::string& path);

  const std::string& path() const { return path_; }
  bool writable() const { return writable_; }
  std::uint64_t bytes() const { return end_; }

  // Tells of the records that were added since the last time, by whatever process.
  void read_new(const Found& found);
  // Nothing if they are damaged or gone.
  std::optional<jpeg::Checkpoints> load(const IndexRecord& record) const;

  // Adds a block of at most kMaxIndexEntries and tells of its records, after those that others have added; `make` is
  // called between the two and may leave out what has become known. False if another process is adding: try later.
  // What could not be written whole is cut off again.
  base::Expected<bool> add(const std::function<std::vector<IndexEntry>()>& make, const Found& found);

 private:
  IndexFile(std::string path, base::UniqueFd file, bool writable)
      : path_(std::move(path)), file_(std::move(file)), writable_(writable) {}
  IndexHead judge() const;
  base::Expected<void> begin_anew();
  base::Expected<void> write(std::uint64_t offset, std::span<const std::uint8_t> bytes);
  bool read(std::uint64_t offset, std::span<std::uint8_t> bytes) const;

  std::string path_;
  base::UniqueFd file_;  // empty as long as the file is not there
  bool writable_ = false;
  std::uint64_t end_ = kIndexHeadBytes;  // of the blocks that were read or written
};

}  // namespace fullbore::image
