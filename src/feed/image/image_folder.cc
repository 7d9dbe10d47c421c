#include "feed/image/image_folder.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <filesystem>
#include <optional>
#include <thread>

namespace fullbore::image {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::Expected;

// torchvision.datasets.folder.IMG_EXTENSIONS
constexpr std::array<std::string_view, 9> kExtensions = {".jpg", ".jpeg", ".png",  ".ppm", ".bmp",
                                                         ".pgm", ".tif",  ".tiff", ".webp"};

bool is_picture(std::string name) {
  for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return std::ranges::any_of(kExtensions, [&](std::string_view extension) { return name.ends_with(extension); });
}

std::unexpected<Error> cannot_list(const fs::path& folder, const std::error_code& code) {
  return std::unexpected(Error::system(code.value(), "cannot list " + folder.string()));
}

struct Listing {
  std::vector<std::string> folders, pictures;
};

Expected<Listing> list(const fs::path& folder) {
  Listing found;
  std::error_code code;
  for (fs::directory_iterator entry(folder, code), end; !code && entry != end; entry.increment(code)) {
    std::error_code gone;  // a dangling link is no folder
    std::string name = entry->path().filename().string();
    if (entry->is_directory(gone)) {
      found.folders.push_back(std::move(name));
    } else if (is_picture(name)) {
      found.pictures.push_back(std::move(name));
    }
  }
  if (code) return cannot_list(folder, code);
  std::ranges::sort(found.pictures);
  return found;
}

struct Folder {
  std::string path;  // relative to the root
  std::vector<std::string> pictures;
};

// All folders below and with `path`.
class ClassWalk {
 public:
  explicit ClassWalk(const fs::path& root) : root_(root) {}

  Expected<std::vector<Folder>> run(const std::string& path) {
    if (auto walked = walk(path, {}); !walked) return std::unexpected(walked.error());
    // os.walk's tuples are sorted by their path as a string: "a-b" comes before "a/b".
    std::ranges::sort(folders_, {}, &Folder::path);
    return std::move(folders_);
  }

 private:
  Expected<void> walk(const std::string& path, std::vector<fs::path> above) {
    std::error_code code;
    fs::path real = fs::canonical(root_ / path, code);
    if (code) return cannot_list(root_ / path, code);
    if (std::ranges::find(above, real) != above.end())
      return base::fail(fmt::format("{} leads back to {}, which it lies in; remove the link", (root_ / path).string(),
                                    real.string()));
    auto found = list(root_ / path);
    if (!found) return std::unexpected(found.error());
    folders_.push_back({path, std::move(found->pictures)});
    above.push_back(std::move(real));
    for (const std::string& name : found->folders) {
      if (auto walked = walk(path + "/" + name, above); !walked) return walked;
    }
    return {};
  }

  fs::path root_;
  std::vector<Folder> folders_;
};

}  // namespace

Expected<Catalogue> list_image_folder(const std::string& root, int threads) {
  auto top = list(root);
  if (!top) return std::unexpected(top.error());
  std::vector<std::string>& classes = top->folders;
  std::ranges::sort(classes);
  if (classes.empty()) return base::fail(fmt::format("no folder of a class in {}; each class has its own", root));

  std::vector<std::optional<Expected<std::vector<Folder>>>> walks(classes.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < classes.size(); i = next++) walks[i] = ClassWalk(root).run(classes[i]);
  };
  {
    std::vector<std::jthread> helpers;
    const auto wanted = std::min<std::size_t>(classes.size(), static_cast<std::size_t>(std::max(threads, 1)));
    for (std::size_t i = 1; i < wanted; ++i) helpers.emplace_back(work);
    work();
  }

  Catalogue catalogue(root);
  std::string path;
  for (std::size_t label = 0; label < classes.size(); ++label) {
    const auto& folders = *walks[label];
    if (!folders) return std::unexpected(folders.error());
    const std::uint64_t before = catalogue.size();
    for (const Folder& folder : *folders) {
      for (const std::string& name : folder.pictures)
        catalogue.add((path = folder.path).append("/").append(name), static_cast<std::int64_t>(label));
    }
    if (catalogue.size() == before)
      return base::fail(fmt::format("no picture in {}/{}; remove the folder, or add files named *.jpg, *.png, *.webp",
                                    root, classes[label]));
  }
  catalogue.set_classes(std::move(classes));
  return catalogue;
}

}  // namespace fullbore::image
