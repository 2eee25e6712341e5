// SPDX-License-Identifier: Apache-2.0
#include "rl/model/safetensors_file.h"

#include <utility>
#include <vector>

#include "platform/runtime/atomic_file.h"

namespace shoal::model {

absl::StatusOr<SafetensorsFile> SafetensorsFile::Open(const std::string& path) {
  SafetensorsFile file;
  file.path_ = path;
  SHOAL_ASSIGN_OR_RETURN(file.file_, runtime::MappedFile::Open(path));
  auto view = SafetensorsView::Parse(file.file_.bytes());
  if (!view.ok()) return runtime::Annotate(view.status(), path);
  file.view_ = *std::move(view);
  return file;
}

absl::Status WriteSafetensorsFile(const std::string& path, std::span<const SafetensorsItem> items,
                                  const Metadata& metadata) {
  const std::string header = WriteSafetensorsHeader(items, metadata);
  std::vector<std::string_view> pieces = {header};
  for (const SafetensorsItem& item : items) {
    pieces.emplace_back(reinterpret_cast<const char*>(item.tensor.bytes.data()),
                        item.tensor.bytes.size());
  }
  return runtime::WriteFileAtomically(path, pieces);
}

}  // namespace shoal::model
