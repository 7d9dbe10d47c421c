// The library and a fake libcupti in a child process, as the driver loads them there, and the records that it leaves.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "inject/testing/fake_cupti.h"
#include "wire/gpu_records.h"
#include "wire/loop_counters.h"
#include "wire/ring.h"

namespace fullbore::inject {

inline constexpr std::uint8_t kPageable = CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE;
inline constexpr std::uint8_t kPinned = CUPTI_ACTIVITY_MEMORY_KIND_PINNED;

// What a child sees of the two libraries.
struct Loaded {
  FakeCupti* cupti = nullptr;
  int (*initialize)() = nullptr;
  void (*allow)() = nullptr;
  void (*count)(const void* counters) = nullptr;
  void (*pause)() = nullptr;
  void (*resume)() = nullptr;
  void (*stop)() = nullptr;

  explicit Loaded(bool with_cupti = true) {
    if (with_cupti) {
      void* fake = dlopen(FULLBORE_FAKE_CUPTI, RTLD_NOW);
      cupti = reinterpret_cast<GetFakeCupti>(dlsym(fake, "fullbore_fake_cupti"))();
    }
    void* library = dlopen(FULLBORE_INJECT_LIB, RTLD_NOW);
    take(library, initialize, "InitializeInjection");
    take(library, allow, "fullbore_trace_allow");
    take(library, count, "fullbore_trace_count");
    take(library, pause, "fullbore_trace_pause");
    take(library, resume, "fullbore_trace_resume");
    take(library, stop, "fullbore_trace_stop");
    allow();  // before the driver comes, as the hook does when torch is imported
  }
  template <typename T>
  static void take(void* library, T& function, const char* name) {
    function = reinterpret_cast<T>(dlsym(library, name));
  }
  // False after five seconds.
  bool eventually(const std::function<bool()>& holds) const {
    for (int i = 0; i < 1000; ++i) {
      if (holds()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return false;
  }
  bool window_opens() const {
    return eventually([this] { return cupti->is_enabled(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL); });
  }
  bool window_closes() const {
    return eventually([this] { return !cupti->is_enabled(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL); });
  }
  // The program goes on calling CUDA.
  bool window_is_over() const {
    return window_closes() && eventually([this] {
             cupti->leave_call();
             return !cupti->is_attached();
           });
  }
  // Initialises, and runs `body` in a window. Ends the child with 3 or 4 if there is none or it has no end.
  void in_window(const std::function<void()>& body) const {
    initialize();
    another_window(body);
  }
  void another_window(const std::function<void()>& body) const {
    if (!window_opens()) std::exit(3);
    body();
    if (!window_is_over()) std::exit(4);
  }
};

inline std::int64_t now_ns() {
  return std::chrono::steady_clock::now().time_since_epoch().count();
}

class InjectTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "fullbore-inject-XXXXXX").string();
    directory_ = mkdtemp(name.data());
    setenv("FULLBORE_RINGS", directory_.c_str(), 1);
    setenv("FULLBORE_RING_BYTES", "1048576", 1);
    unsetenv("KINETO_USE_DAEMON");
  }
  void TearDown() override {
    unsetenv("FULLBORE_RINGS");
    std::filesystem::remove_all(directory_);
  }

  // Wait status of a child that runs `body`; then its records are in `records_`.
  int in_child(const std::function<void()>& body) {
    const pid_t child = fork();
    if (child == 0) {
      body();
      std::exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    read_rings();
    return status;
  }

  void read_rings() {
    for (const auto& entry : std::filesystem::directory_iterator(directory_)) {
      ++rings_;
      std::ifstream file(entry.path(), std::ios::binary);
      std::string bytes((std::istreambuf_iterator<char>(file)), {});
      auto* header = reinterpret_cast<wire::RingHeader*>(bytes.data());
      wire::RingReader reader(header, reinterpret_cast<unsigned char*>(bytes.data()) + wire::kRingDataOffset,
                              header->capacity);
      std::string out(header->capacity, '\0');
      out.resize(reader.read(out.data(), out.size()));
      closed_ = reader.closed();
      for (std::size_t at = 0; at < out.size();) {
        wire::RecordHeader record;
        std::memcpy(&record, out.data() + at, sizeof record);
        payloads_.emplace(record.kind, out.substr(at + sizeof record, record.size - sizeof record));
        at += record.size;
      }
    }
  }
  template <typename T>
  std::vector<T> all() const {
    std::vector<T> found;
    const auto [first, last] = payloads_.equal_range(wire::KindOf<T>::value);
    for (auto it = first; it != last; ++it) {
      std::memcpy(&found.emplace_back(), it->second.data(), sizeof(T));
    }
    return found;
  }
  std::string text(wire::NameId id) const {
    const auto [first, last] = payloads_.equal_range(wire::Kind::kName);
    for (auto it = first; it != last; ++it) {
      wire::NameRecord name;
      std::memcpy(&name, it->second.data(), sizeof name);
      if (name.id == id) return it->second.substr(sizeof name, name.length);
    }
    return "";
  }
  std::vector<std::string> missing() const {
    std::vector<std::string> found;
    for (const auto& record : all<wire::MissingRecord>()) {
      found.push_back(text(record.signal) + ": " + text(record.why));
    }
    return found;
  }

  std::filesystem::path directory_;
  std::multimap<wire::Kind, std::string> payloads_;
  int rings_ = 0;
  bool closed_ = false;
};

}  // namespace fullbore::inject
