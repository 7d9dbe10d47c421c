// See spans.h. Every function walks its arguments once.
#include "diagnose/spans.h"

#include <algorithm>

namespace fullbore::diagnose {

Spans merged(std::vector<Span> spans) {
  std::ranges::sort(spans);
  Spans out;
  for (const Span& span : spans) {
    if (span.first >= span.second) continue;
    if (!out.empty() && span.first <= out.back().second) {
      out.back().second = std::max(out.back().second, span.second);
    } else {
      out.push_back(span);
    }
  }
  return out;
}

Spans without(const Spans& spans, const Spans& taken) {
  Spans out;
  auto next = taken.begin();
  for (auto [begin_ns, end_ns] : spans) {
    while (next != taken.end() && next->second <= begin_ns) ++next;
    for (auto it = next; it != taken.end() && it->first < end_ns; ++it) {
      if (begin_ns < it->first) out.emplace_back(begin_ns, it->first);
      begin_ns = it->second;
    }
    if (begin_ns < end_ns) out.emplace_back(begin_ns, end_ns);
  }
  return out;
}

Spans common(const Spans& a, const Spans& b) {
  Spans out;
  auto left = a.begin(), right = b.begin();
  while (left != a.end() && right != b.end()) {
    const std::int64_t begin_ns = std::max(left->first, right->first);
    const std::int64_t end_ns = std::min(left->second, right->second);
    if (begin_ns < end_ns) out.emplace_back(begin_ns, end_ns);
    left->second < right->second ? ++left : ++right;
  }
  return out;
}

double length_ns(const Spans& spans) {
  double sum = 0;
  for (const auto& [begin_ns, end_ns] : spans) sum += static_cast<double>(end_ns - begin_ns);
  return sum;
}

double length_within_ns(const Spans& spans, std::int64_t begin_ns, std::int64_t end_ns) {
  double sum = 0;
  auto it = std::ranges::upper_bound(spans, begin_ns, {}, &Span::second);
  for (; it != spans.end() && it->first < end_ns; ++it)
    sum += static_cast<double>(std::min(end_ns, it->second) - std::max(begin_ns, it->first));
  return sum;
}

}  // namespace fullbore::diagnose
