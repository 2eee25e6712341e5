// SPDX-License-Identifier: Apache-2.0
#include "platform/runtime/scratch_folder.h"

#include <stdlib.h>

#include <filesystem>
#include <system_error>

namespace shoal::runtime {

ScratchFolder::ScratchFolder() {
  std::error_code error;
  std::string pattern = (std::filesystem::temp_directory_path(error) / "shoal-XXXXXX").string();
  if (!error && ::mkdtemp(pattern.data()) != nullptr) path_ = pattern;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

}  // namespace shoal::runtime
