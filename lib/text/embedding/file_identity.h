// SPDX-License-Identifier: Apache-2.0
// Which file a path leads to: another process may have put another one there.
#pragma once

#include <sys/stat.h>

#include <string>

namespace shoal::embedding {

struct FileIdentity {
  dev_t device = 0;
  ino_t number = 0;

  // Zeros where there is none.
  static FileIdentity Of(const std::string& path) {
    struct stat found = {};
    if (::stat(path.c_str(), &found) != 0) return {};
    return {found.st_dev, found.st_ino};
  }
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

}  // namespace shoal::embedding
