#include "observe/samplers/mounts.h"

#include <algorithm>

#include "observe/samplers/kernel_text.h"

namespace fullbore::observe {
namespace {

// Blanks and backslashes in paths are printed as octal escapes, "\040".
std::string unescaped(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escape = text[i] == '\\' && i + 3 < text.size() &&
                        std::ranges::all_of(text.substr(i + 1, 3), [](char c) { return c >= '0' && c <= '7'; });
    if (!escape) {
      plain += text[i];
      continue;
    }
    plain += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
    i += 3;
  }
  return plain;
}

}  // namespace

// "ID PARENT MAJOR:MINOR ROOT POINT OPTIONS [TAGS...] - TYPE SOURCE SUPER_OPTIONS"
std::vector<Mount> parse_mounts(std::string_view mountinfo) {
  std::vector<Mount> mounts;
  for (const std::string_view line : lines(mountinfo)) {
    const std::size_t dash = line.find(" - ");
    if (dash == std::string_view::npos) continue;
    const auto before = fields(line.substr(0, dash), 6);
    const auto after = fields(line.substr(dash + 3), 3);
    if (before.size() < 6 || after.size() < 2) continue;
    mounts.push_back({std::string(before[2]), unescaped(before[3]), unescaped(before[4]), std::string(before[5]),
                      std::string(after[0]), unescaped(after[1]), after.size() > 2 ? std::string(after[2]) : ""});
  }
  return mounts;
}

const Mount* mount_of(const std::vector<Mount>& mounts, std::string_view path) {
  const Mount* best = nullptr;
  for (const Mount& mount : mounts) {
    const bool inside =
        mount.point == "/" || path == mount.point || (path.starts_with(mount.point) && path[mount.point.size()] == '/');
    // Later lines were mounted later and cover earlier ones at the same point.
    if (inside && path.starts_with('/') && (best == nullptr || mount.point.size() >= best->point.size())) best = &mount;
  }
  return best;
}

}  // namespace fullbore::observe
