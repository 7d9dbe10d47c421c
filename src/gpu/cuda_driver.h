// What the rest of Fullbore may know of CUDA: handles by name and a table that is found at run time. Without this file
// every folder would need the vendor's headers, and one binary could not run where there is no GPU.
#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"

// The driver's own tags, so that a handle made by PyTorch or by another library is the same type here.
struct CUctx_st;
struct CUevent_st;
struct CUfunc_st;
struct CUmod_st;
struct CUstream_st;

namespace fullbore::gpu {

using ContextHandle = CUctx_st*;
using EventHandle = CUevent_st*;
using FunctionHandle = CUfunc_st*;
using ModuleHandle = CUmod_st*;
using StreamHandle = CUstream_st*;  // null is the legacy default stream
using DeviceAddress = std::uint64_t;

struct CudaApi;  // cuda_api.h

// The driver of this machine, opened and initialised once per process and never closed; fails with the reason where
// there is none, or in a build with FULLBORE_GPU=none. Must not be called in a child forked from a process that uses
// CUDA.
base::Expected<const CudaApi*> load_cuda();

}  // namespace fullbore::gpu
