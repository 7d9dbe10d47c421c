#include "gpu/testing/fake_cuda.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace fullbore::gpu::testing {
namespace {

FakeCuda* current = nullptr;
thread_local CUcontext thread_context = nullptr;
thread_local CUstreamCaptureMode thread_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

std::uint64_t this_thread() {
  return static_cast<std::uint64_t>(::gettid());
}

}  // namespace

// The functions of the table. Each locks the fake, lets some queued work happen and then does its own part.
struct FakeFunctions {
  struct Call {
    Call(const char* function, bool breaks_capture = false) : lock(current->mutex_) {
      result = current->enter(function, breaks_capture);
    }
    bool failed() const { return result != CUDA_SUCCESS; }
    std::unique_lock<std::mutex> lock;
    CUresult result;
  };

  static CUresult init(unsigned) { return Call("init").result; }
  static CUresult driver_get_version(int* version) {
    *version = 13000;
    return Call("driver_get_version").result;
  }
  static CUresult device_get_count(int* count) {
    *count = current->options_.devices;
    return Call("device_get_count").result;
  }
  static CUresult device_get(CUdevice* device, int ordinal) {
    *device = ordinal;
    return Call("device_get").result;
  }
  static CUresult device_get_name(char* name, int room, CUdevice) {
    std::snprintf(name, static_cast<std::size_t>(room), "Fake GPU");
    return Call("device_get_name").result;
  }
  static CUresult device_get_pci_bus_id(char* id, int room, CUdevice device) {
    std::snprintf(id, static_cast<std::size_t>(room), "0000:%02X:00.0", 0xaf + device);
    return Call("device_get_pci_bus_id").result;
  }
  static CUresult primary_context_retain(CUcontext* context, CUdevice device) {
    *context = reinterpret_cast<CUcontext>(static_cast<std::uintptr_t>(device) + 0x100);
    return Call("primary_context_retain").result;
  }
  static CUresult primary_context_release(CUdevice) { return Call("primary_context_release").result; }
  static CUresult context_set_current(CUcontext context) {
    thread_context = context;
    return Call("context_set_current").result;
  }
  static CUresult context_get_current(CUcontext* context) {
    *context = thread_context;
    return Call("context_get_current").result;
  }
  static CUresult exchange_capture_mode(CUstreamCaptureMode* mode) {
    std::swap(*mode, thread_mode);
    return Call("exchange_capture_mode").result;
  }

  static CUresult stream_create(CUstream* stream, unsigned) {
    const Call call("stream_create");
    if (!call.failed()) *stream = reinterpret_cast<CUstream>(current->next_handle());
    return call.result;
  }
  static CUresult stream_destroy(CUstream stream) {
    const Call call("stream_destroy");
    current->streams_.erase(stream);
    return call.result;
  }
  static CUresult stream_wait_event(CUstream stream, CUevent handle, unsigned) {
    const Call call("stream_wait_event");
    if (call.failed()) return call.result;
    FakeCuda::Event& event = current->events_[handle];
    const std::uint64_t awaited = event.recorded;
    current->stream(stream).queue.push_back({[&event, awaited] { return event.reached >= awaited; }, [] {}});
    return call.result;
  }

  static CUresult event_create(CUevent* event, unsigned) {
    const Call call("event_create");
    if (call.failed()) return call.result;
    *event = reinterpret_cast<CUevent>(current->next_handle());
    current->events_[*event];
    return call.result;
  }
  static CUresult event_destroy(CUevent event) {
    Call call("event_destroy");
    current->wait_until(call.lock, [event] { return reached(event); });  // queued records refer to it
    current->events_.erase(event);
    return call.result;
  }
  static CUresult event_record(CUevent handle, CUstream stream) {
    const Call call("event_record");
    if (call.failed()) return call.result;
    FakeCuda::Event& event = current->events_[handle];
    const std::uint64_t number = ++event.recorded;
    current->stream(stream).queue.push_back({{}, [&event, number] {
                                               event.reached = number;
                                               event.time = current->clock_;
                                             }});
    return call.result;
  }
  static bool reached(CUevent handle) {
    const FakeCuda::Event& event = current->events_[handle];
    return event.reached >= event.recorded;
  }
  static CUresult event_query(CUevent event) {
    const Call call("event_query", true);
    if (call.failed()) return call.result;
    return reached(event) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
  }
  static CUresult event_synchronize(CUevent event) {
    Call call("event_synchronize", true);
    if (call.failed()) return call.result;
    current->wait_until(call.lock, [event] { return reached(event); });
    return CUDA_SUCCESS;
  }
  static CUresult event_elapsed_time(float* ms, CUevent begin, CUevent end) {
    const Call call("event_elapsed_time");
    if (call.failed()) return call.result;
    if (!reached(begin) || !reached(end)) return CUDA_ERROR_NOT_READY;
    *ms = static_cast<float>(current->events_[end].time - current->events_[begin].time);
    return CUDA_SUCCESS;
  }

  static CUresult host_alloc(void** memory, std::size_t bytes, unsigned) {
    const Call call("host_alloc", true);
    if (call.failed()) return call.result;
    std::size_t held = 0;
    for (const auto& [address, size] : current->pinned_) held += size;
    if (held + bytes > current->options_.most_pinned_bytes) return CUDA_ERROR_OUT_OF_MEMORY;
    *memory = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    std::memset(*memory, 0xA5, bytes);
    current->pinned_[reinterpret_cast<std::uintptr_t>(*memory)] = bytes;
    return CUDA_SUCCESS;
  }
  static CUresult host_free(void* memory) {
    const Call call("host_free", true);
    const auto address = reinterpret_cast<std::uintptr_t>(memory);
    std::memset(memory, 0x5A, current->pinned_[address]);  // what still reads it gets rubbish
    current->pinned_.erase(address);
    std::free(memory);
    return call.result;
  }
  static bool pinned(const void* memory) {
    const auto address = reinterpret_cast<std::uintptr_t>(memory);
    auto above = current->pinned_.upper_bound(address);
    if (above == current->pinned_.begin()) return false;
    --above;
    return address < above->first + above->second;
  }
  static CUresult copy_to_device_async(CUdeviceptr destination, const void* source, std::size_t bytes,
                                       CUstream stream) {
    const Call call("copy_to_device_async");
    if (call.failed()) return call.result;
    auto* to = reinterpret_cast<void*>(destination);
    if (pinned(source)) {
      current->stream(stream).queue.push_back({{}, [=] { std::memcpy(to, source, bytes); }});
    } else {
      const auto* first = static_cast<const std::byte*>(source);
      std::vector<std::byte> kept(first, first + bytes);
      current->stream(stream).queue.push_back({{}, [=] { std::memcpy(to, kept.data(), bytes); }});
    }
    return CUDA_SUCCESS;
  }
  static CUresult copy_to_host_async(void* destination, CUdeviceptr source, std::size_t bytes, CUstream stream) {
    const Call call("copy_to_host_async");
    if (call.failed()) return call.result;
    const auto* from = reinterpret_cast<const void*>(source);
    current->stream(stream).queue.push_back({{}, [=] { std::memcpy(destination, from, bytes); }});
    return CUDA_SUCCESS;
  }
  static CUresult device_alloc(CUdeviceptr* address, std::size_t bytes) {
    const Call call("device_alloc", true);
    if (!call.failed()) *address = reinterpret_cast<CUdeviceptr>(std::calloc(bytes, 1));
    return call.result;
  }
  static CUresult device_free(CUdeviceptr address) {
    const Call call("device_free", true);
    std::free(reinterpret_cast<void*>(address));
    return call.result;
  }
  static CUresult pointer_get_attribute(void* value, CUpointer_attribute, CUdeviceptr address) {
    const Call call("pointer_get_attribute");
    if (call.failed()) return call.result;
    if (!pinned(reinterpret_cast<const void*>(address))) return CUDA_ERROR_INVALID_VALUE;
    *static_cast<unsigned*>(value) = CU_MEMORYTYPE_HOST;
    return CUDA_SUCCESS;
  }
  static CUresult module_load_data(CUmodule* module, const void*, unsigned, CUjit_option*, void**) {
    const Call call("module_load_data", true);
    if (!call.failed()) *module = reinterpret_cast<CUmodule>(current->next_handle());
    return call.result;
  }
  static CUresult module_unload(CUmodule) { return Call("module_unload", true).result; }
  static CUresult module_get_function(CUfunction* function, CUmodule, const char* name) {
    const Call call("module_get_function");
    if (call.failed()) return call.result;
    const auto kernel = current->kernels_.find(name);
    if (kernel == current->kernels_.end()) return CUDA_ERROR_NOT_FOUND;
    *function = reinterpret_cast<CUfunction>(&kernel->second);
    return CUDA_SUCCESS;
  }
  static CUresult launch_kernel(CUfunction function, unsigned blocks, unsigned, unsigned, unsigned threads, unsigned,
                                unsigned, unsigned, CUstream stream, void** arguments, void**) {
    const Call call("launch_kernel");
    if (call.failed()) return call.result;
    const auto* kernel = reinterpret_cast<const HostKernel*>(function);
    std::vector<std::vector<std::byte>> kept;
    for (const std::size_t bytes : kernel->argument_bytes) {
      const auto* first = static_cast<const std::byte*>(arguments[kept.size()]);
      kept.emplace_back(first, first + bytes);
    }
    current->stream(stream).queue.push_back({{}, [=]() mutable {
                                               std::vector<void*> addresses;
                                               for (auto& one : kept) addresses.push_back(one.data());
                                               kernel->run(blocks, threads, addresses.data());
                                             }});
    return CUDA_SUCCESS;
  }
  static CUresult get_error_name(CUresult result, const char** name) {
    *name = result == CUDA_ERROR_OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_FAKE";
    return CUDA_SUCCESS;
  }
  static CUresult get_error_string(CUresult, const char** sentence) {
    *sentence = "as the test asked";
    return CUDA_SUCCESS;
  }

  static CudaApi table() {
    CudaApi api{};
    api.init = init;
    api.driver_get_version = driver_get_version;
    api.device_get_count = device_get_count;
    api.device_get = device_get;
    api.device_get_name = device_get_name;
    api.device_get_pci_bus_id = device_get_pci_bus_id;
    api.primary_context_retain = primary_context_retain;
    api.primary_context_release = primary_context_release;
    api.context_set_current = context_set_current;
    api.context_get_current = context_get_current;
    api.exchange_capture_mode = exchange_capture_mode;
    api.stream_create = stream_create;
    api.stream_destroy = stream_destroy;
    api.stream_wait_event = stream_wait_event;
    api.event_create = event_create;
    api.event_destroy = event_destroy;
    api.event_record = event_record;
    api.event_query = event_query;
    api.event_synchronize = event_synchronize;
    api.event_elapsed_time = event_elapsed_time;
    api.host_alloc = host_alloc;
    api.host_free = host_free;
    api.copy_to_device_async = copy_to_device_async;
    api.copy_to_host_async = copy_to_host_async;
    api.device_alloc = device_alloc;
    api.device_free = device_free;
    api.pointer_get_attribute = pointer_get_attribute;
    api.module_load_data = module_load_data;
    api.module_unload = module_unload;
    api.module_get_function = module_get_function;
    api.launch_kernel = launch_kernel;
    api.get_error_name = get_error_name;
    api.get_error_string = get_error_string;
    return api;
  }
};

FakeCuda::FakeCuda(FakeCudaOptions options) : api_(FakeFunctions::table()), options_(options), random_(options.seed) {
  current = this;
}

FakeCuda::~FakeCuda() {
  if (current == this) current = nullptr;
}

std::uint64_t FakeCuda::next_handle() {
  static std::uint64_t last = 0x1000;
  return last += 16;
}

StreamHandle FakeCuda::make_stream() {
  const std::lock_guard lock(mutex_);
  return reinterpret_cast<StreamHandle>(next_handle());
}

void FakeCuda::hold(StreamHandle handle) {
  const std::lock_guard lock(mutex_);
  stream(handle).held = true;
}

void FakeCuda::release(StreamHandle handle) {
  const std::lock_guard lock(mutex_);
  stream(handle).held = false;
  changed_.notify_all();
}

void FakeCuda::launch(StreamHandle handle, std::function<void()> kernel) {
  const std::lock_guard lock(mutex_);
  stream(handle).queue.push_back({{}, std::move(kernel)});
  changed_.notify_all();
}

void FakeCuda::add_kernel(const std::string& name, HostKernel kernel) {
  const std::lock_guard lock(mutex_);
  kernels_[name] = std::move(kernel);
}

void FakeCuda::run_until_idle() {
  const std::lock_guard lock(mutex_);
  while (step()) {
  }
  changed_.notify_all();
}

bool FakeCuda::idle(StreamHandle handle) {
  const std::lock_guard lock(mutex_);
  return stream(handle).queue.empty();
}

void FakeCuda::fail(const std::string& function, CUresult result, int after) {
  const std::lock_guard lock(mutex_);
  failures_[function] = {result, after};
}

int FakeCuda::calls(const std::string& function, bool own_thread) {
  const std::lock_guard lock(mutex_);
  int sum = 0;
  for (const auto& [thread, count] : calls_[function]) sum += !own_thread || thread == this_thread() ? count : 0;
  return sum;
}

void FakeCuda::clear_calls() {
  const std::lock_guard lock(mutex_);
  calls_.clear();
}

std::size_t FakeCuda::pinned_bytes() {
  const std::lock_guard lock(mutex_);
  std::size_t sum = 0;
  for (const auto& [address, size] : pinned_) sum += size;
  return sum;
}

int FakeCuda::capture_breaking_calls() {
  const std::lock_guard lock(mutex_);
  return broken_;
}

CUresult FakeCuda::enter(const char* function, bool breaks_capture) {
  ++calls_[function][this_thread()];
  if (capturing_ && breaks_capture && thread_mode != CU_STREAM_CAPTURE_MODE_RELAXED) ++broken_;
  step_at_random();
  changed_.notify_all();
  const auto failure = failures_.find(function);
  if (failure == failures_.end() || failure->second.second-- > 0) return CUDA_SUCCESS;
  return failure->second.first;
}

bool FakeCuda::step() {
  std::vector<Stream*> runnable;
  for (auto& [handle, one] : streams_) {
    const bool waits = one.held || one.queue.empty() || (one.queue.front().ready && !one.queue.front().ready());
    if (!waits) runnable.push_back(&one);
  }
  if (runnable.empty()) return false;
  Stream& chosen = *runnable[random_() % runnable.size()];
  Operation operation = std::move(chosen.queue.front());
  chosen.queue.pop_front();
  ++clock_;
  operation.run();
  return true;
}

void FakeCuda::step_at_random() {
  // Mostly nothing: late work is what shows a source that was reused too early.
  if (random_() % 3 != 0) return;
  for (std::uint64_t steps = random_() % 4; steps > 0 && step(); --steps) {
  }
}

bool FakeCuda::wait_until(std::unique_lock<std::mutex>& lock, const std::function<bool()>& done) {
  while (!done()) {
    if (step()) continue;
    changed_.wait(lock);  // everything left is held
  }
  return true;
}

}  // namespace fullbore::gpu::testing
