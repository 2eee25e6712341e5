// SPDX-License-Identifier: Apache-2.0
// A folder that is gone when the test is.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>

namespace shoal::learner {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = std::filesystem::temp_directory_path() / "shoal-learner-XXXXXX";
    path_ = ::mkdtemp(pattern.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace shoal::learner
