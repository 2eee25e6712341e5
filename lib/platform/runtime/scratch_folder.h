// SPDX-License-Identifier: Apache-2.0
// A folder for the files of one command, which is removed with all that is in it. A value that one
// thread uses.
#pragma once

#include <string>

namespace shoal::runtime {

class ScratchFolder {
 public:
  // Makes a folder of an unused name in the system's folder for temporary files, readable for its
  // owner alone.
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  // Empty when it could not be made.
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace shoal::runtime
