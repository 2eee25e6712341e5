// SPDX-License-Identifier: Apache-2.0
// Fuzzes the index of a mirror, which is not trusted. It must be refused with the wrong place, or
// name only plain files and be unchanged when it is written again.
//
// Input: the index.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "text/dataset/mirror_index.h"

namespace shoal::dataset {
namespace {

void Require(bool condition) {
  if (!condition) std::abort();
}

void Run(std::string_view text) {
  const auto index = MirrorIndex::Parse(text);
  if (!index.ok()) {
    Require(absl::IsDataLoss(index.status()) && !index.status().message().empty());
    return;
  }
  for (const MirrorArchive& archive : index->archives) {
    Require(archive.File().find('/') == std::string::npos && !archive.File().starts_with('.'));
    Require(archive.bytes > 0 && archive.bytes <= kMaximumArchive);
    Require(archive.sha256.size() == 64);
    Require(index->Find(archive.name).ok());
  }
  const std::string written = index->ToJson();
  const auto again = MirrorIndex::Parse(written);
  Require(again.ok() && again->ToJson() == written);
}

}  // namespace
}  // namespace shoal::dataset

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  shoal::dataset::Run({reinterpret_cast<const char*>(data), size});
  return 0;
}
