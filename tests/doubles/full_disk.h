// SPDX-License-Identifier: Apache-2.0
// A disk without room: while an object lives, writes of this process to files below its folder fail
// as they do on a full disk.
//
// It needs a test program whose write() asks HasNoRoom. Thread-safe; one object lives at a time.
#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <mutex>
#include <string>
#include <string_view>

namespace shoal::doubles {

class FullDisk {
 public:
  explicit FullDisk(const std::string& folder) {
    const std::scoped_lock lock(Full().mutex);
    Full().below = folder + "/";
    Full().refused = 0;
  }
  ~FullDisk() {
    const std::scoped_lock lock(Full().mutex);
    Full().below.clear();
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

  // How many writes have failed, by which a test shows that the disk was full when it mattered.
  int refused() const {
    const std::scoped_lock lock(Full().mutex);
    return Full().refused;
  }

  // Whether a write to `file` has to fail with ENOSPC.
  static bool HasNoRoom(int file) {
    const std::scoped_lock lock(Full().mutex);
    struct stat info {};
    if (Full().below.empty() || ::fstat(file, &info) != 0 || !S_ISREG(info.st_mode)) return false;
    std::array<char, 4096> path{};
    const std::string link = "/proc/self/fd/" + std::to_string(file);
    const ssize_t length = ::readlink(link.c_str(), path.data(), path.size());
    const bool refuses =
        length > 0 &&
        std::string_view(path.data(), static_cast<std::size_t>(length)).starts_with(Full().below);
    if (refuses) ++Full().refused;
    return refuses;
  }

 private:
  struct State {
    std::mutex mutex;
    std::string below;
    int refused = 0;
  };
  static State& Full() {
    static State state;
    return state;
  }
};

}  // namespace shoal::doubles
