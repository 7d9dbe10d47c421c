// See inject.h. The one tracer of the process, and what ties it to the process's life.
#include "inject/inject.h"

#include <pthread.h>
#include <stdlib.h>

#include <atomic>
#include <initializer_list>

#include "inject/tracer.h"

#define FULLBORE_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

using fullbore::inject::Tracer;
using fullbore::inject::TracerOptions;
namespace wire = fullbore::wire;

constinit Tracer tracer;
std::atomic<bool> loaded{false};

// Buffers of records are handed over 8-byte aligned; 0 records at most means as many as fit.
void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* most_records) {
  *buffer = tracer.request_buffer();
  *size = *buffer == nullptr ? 0 : fullbore::inject::BufferPool::kBufferBytes;
  *most_records = 0;
}

void CUPTIAPI take_buffer(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid) {
  tracer.complete_buffer(buffer, valid);
}

void CUPTIAPI at_call(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void* data) {
  if (static_cast<const CUpti_CallbackData*>(data)->callbackSite == CUPTI_API_EXIT) tracer.leaving_cuda();
}

void in_forked_child() {
  tracer.abandon();
}

bool is_set(const char* name) {
  const char* value = getenv(name);
  return value != nullptr && value[0] != '\0';
}

std::int32_t rank() {
  for (const char* name : {"RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK"}) {
    if (is_set(name)) return static_cast<std::int32_t>(strtol(getenv(name), nullptr, 10));
  }
  return wire::kUnknown32;
}

}  // namespace

FULLBORE_EXPORT int InitializeInjection(void) {
  if (!is_set("FULLBORE_RINGS") || loaded.exchange(true)) return 1;
  TracerOptions options;
  options.rings = getenv("FULLBORE_RINGS");
  options.ring_bytes = is_set("FULLBORE_RING_BYTES") ? strtoull(getenv("FULLBORE_RING_BYTES"), nullptr, 10) : 1u << 20;
  options.rank = rank();
  if (is_set("FULLBORE_TRACE_SHARE")) options.cost_share = strtod(getenv("FULLBORE_TRACE_SHARE"), nullptr);
  if (!(options.cost_share > 0)) options.stay_out = "FULLBORE_TRACE_SHARE is 0";
  // With a daemon torch.profiler may begin at any moment, without a call that we could see.
  if (is_set("KINETO_USE_DAEMON")) options.stay_out = "KINETO_USE_DAEMON is set: tracing is left to that daemon";
  pthread_atfork(nullptr, nullptr, in_forked_child);
  tracer.start(options, {give_buffer, take_buffer, at_call});
  atexit(fullbore_trace_stop);
  return 1;
}

FULLBORE_EXPORT void fullbore_trace_allow(void) {
  tracer.allow();
}
FULLBORE_EXPORT void fullbore_trace_count(const void* counters) {
  tracer.count(static_cast<const wire::LoopCounters*>(counters));
}
FULLBORE_EXPORT void fullbore_trace_pause(void) {
  tracer.pause();
}
FULLBORE_EXPORT void fullbore_trace_resume(void) {
  tracer.resume();
}
FULLBORE_EXPORT void fullbore_trace_stop(void) {
  tracer.stop();
}
