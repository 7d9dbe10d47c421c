// The finish kernel as PTX. An empty text where the build had no clang for it: then the caller finishes otherwise, and
// says so.
#pragma once

namespace fullbore::gpu {

extern const char* const kFinishPtx;
inline constexpr const char* kFinishName = "fullbore_finish";

}  // namespace fullbore::gpu
