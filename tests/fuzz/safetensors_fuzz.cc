// SPDX-License-Identifier: Apache-2.0
// Fuzzes SafetensorsView with whole weight files. It must neither crash nor read outside the file.
// An accepted file must be unchanged when it is written again, and its floats must be readable.
//
// Input: the file's bytes.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "rl/model/safetensors.h"

namespace shoal::model {
namespace {

using runtime::DType;

void Require(bool condition) {
  if (!condition) std::abort();
}

void ReadAll(const SafetensorsView& view) {
  for (const auto& entry : view.entries()) {
    const std::size_t count = entry.bytes.size() / runtime::SizeOf(entry.dtype);
    std::vector<float> values(count);
    const bool floats = entry.dtype == DType::kFloat32 || entry.dtype == DType::kFloat16 ||
                        entry.dtype == DType::kBFloat16 || entry.dtype == DType::kFloat64;
    Require(view.ReadFloats(entry.name, entry.shape, values).ok() == floats);
    Require(view.Floats(entry.name, entry.shape).ok() == (entry.dtype == DType::kFloat32));
  }
}

bool Same(const SafetensorsView::Entry& a, const SafetensorsView::Entry& b) {
  return a.name == b.name && a.dtype == b.dtype && a.shape == b.shape &&
         std::equal(a.bytes.begin(), a.bytes.end(), b.bytes.begin(), b.bytes.end());
}

void Run(std::string_view file) {
  const auto view = SafetensorsView::Parse(file);
  if (!view.ok()) {
    Require(!view.status().message().empty());
    return;
  }
  ReadAll(*view);
  std::vector<SafetensorsItem> items;
  for (const auto& entry : view->entries()) {
    items.push_back({entry.name, {entry.dtype, entry.shape, entry.bytes}});
  }
  const std::string written = WriteSafetensors(items, view->metadata());
  const auto again = SafetensorsView::Parse(written);
  Require(again.ok() && again->metadata() == view->metadata());
  Require(std::equal(view->entries().begin(), view->entries().end(), again->entries().begin(),
                     again->entries().end(), Same));
}

}  // namespace
}  // namespace shoal::model

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  shoal::model::Run({reinterpret_cast<const char*>(data), size});
  return 0;
}
