// SPDX-License-Identifier: Apache-2.0
#include "text/dataset/mirror.h"

#include <utility>

#include "platform/content/content_key.h"
#include "platform/runtime/atomic_file.h"
#include "platform/runtime/mapped_file.h"
#include "text/dataset/dataset.h"
#include "text/dataset/dataset_files.h"
#include "text/dataset/pack.h"

namespace shoal::dataset {

absl::StatusOr<MirrorIndex> ReadMirrorIndex(const std::string& mirror) {
  const std::string path = DatasetPath(mirror, kMirrorFile);
  SHOAL_ASSIGN_OR_RETURN(const std::string text, runtime::ReadFile(path, kMaximumMirrorIndex));
  auto index = MirrorIndex::Parse(text);
  if (!index.ok()) return runtime::Annotate(index.status(), path);
  return index;
}

absl::StatusOr<MirrorArchive> PackIntoMirror(const std::string& folder, const std::string& mirror,
                                             const std::string& name,
                                             const redfish::PackObserver& observer) {
  absl::StatusOr<MirrorIndex> index = ReadMirrorIndex(mirror);
  if (absl::IsNotFound(index.status())) index = MirrorIndex();
  SHOAL_RETURN_IF_ERROR(index.status());
  SHOAL_ASSIGN_OR_RETURN(const auto dataset, Dataset::Open(folder));
  SHOAL_ASSIGN_OR_RETURN(const std::string bytes, PackDataset(*dataset, name, observer));
  const Manifest& manifest = dataset->manifest();
  const MirrorArchive archive{.name = name,
                              .bytes = bytes.size(),
                              .sha256 = content::Sha256Hex(bytes),
                              .chunks = manifest.chunks,
                              .tokens = manifest.tokens,
                              .licences = manifest.Licences()};
  index->Put(archive);
  SHOAL_RETURN_IF_ERROR(runtime::WriteFileAtomically(DatasetPath(mirror, archive.File()), bytes));
  SHOAL_RETURN_IF_ERROR(
      runtime::WriteFileAtomically(DatasetPath(mirror, kMirrorFile), index->ToJson()));
  return archive;
}

absl::Status VerifyArchive(const std::string& file, const MirrorArchive& archive) {
  SHOAL_ASSIGN_OR_RETURN(const auto mapped, runtime::MappedFile::Open(file));
  return RequireDigest(file, mapped.bytes(), {.bytes = archive.bytes, .sha256 = archive.sha256},
                       "mirror");
}

absl::StatusOr<MirrorIndex> VerifyMirror(const std::string& mirror,
                                         const MirrorObserver& observer) {
  SHOAL_ASSIGN_OR_RETURN(MirrorIndex index, ReadMirrorIndex(mirror));
  for (const MirrorArchive& archive : index.archives) {
    SHOAL_RETURN_IF_ERROR(VerifyArchive(DatasetPath(mirror, archive.File()), archive));
    if (observer) observer(archive);
  }
  return index;
}

}  // namespace shoal::dataset
