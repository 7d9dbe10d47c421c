// Stretches of time as sets: merged, subtracted, cut. Times are nanoseconds, [begin, end).
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace fullbore::diagnose {

using Span = std::pair<std::int64_t, std::int64_t>;
// Disjoint, not empty, in order of time.
using Spans = std::vector<Span>;

// Any spans, made Spans.
Spans merged(std::vector<Span> spans);
Spans without(const Spans& spans, const Spans& taken);
Spans common(const Spans& a, const Spans& b);
double length_ns(const Spans& spans);
// Of [begin_ns, end_ns) what the spans hold; the search is logarithmic in their number.
double length_within_ns(const Spans& spans, std::int64_t begin_ns, std::int64_t end_ns);

}  // namespace fullbore::diagnose
