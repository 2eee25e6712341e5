// SPDX-License-Identifier: Apache-2.0
// Where all-MiniLM-L6-v2 is on this machine, for tests that compare with it. `deploy/install.sh
// install_minilm` fetches it; without it such a test warns and ends.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

namespace shoal::doubles {

// Returns $MINILM_ROOT, or .deps/minilm, where that has the model.
inline std::optional<std::string> SentenceModel() {
  const char* given = std::getenv("MINILM_ROOT");
  const std::string folder = given == nullptr ? ".deps/minilm" : given;
  std::error_code error;
  const bool found = std::filesystem::exists(folder + "/model.safetensors", error);
  return found ? std::optional(folder) : std::nullopt;
}

}  // namespace shoal::doubles
