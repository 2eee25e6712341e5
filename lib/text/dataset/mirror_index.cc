// SPDX-License-Identifier: Apache-2.0
#include "text/dataset/mirror_index.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "platform/content/content_key.h"
#include "platform/content/json_node.h"
#include "platform/runtime/atomic_file.h"
#include "platform/runtime/mapped_file.h"
#include "text/dataset/dataset.h"
#include "text/dataset/dataset_files.h"
#include "text/dataset/manifest.h"
#include "text/dataset/pack.h"

namespace shoal::dataset {
namespace {

using Json = nlohmann::json;
using content::JsonNode;

constexpr const char* kMirrorFormat = "shoal-mirror/1";
constexpr std::size_t kLongestName = 128;

bool IsAlphanumeric(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool IsBefore(const MirrorArchive& archive, std::string_view name) { return archive.name < name; }

absl::StatusOr<MirrorArchive> ReadMirrorArchive(const JsonNode& node) {
  MirrorArchive archive;
  SHOAL_ASSIGN_OR_RETURN(archive.name, node.At("name").String());
  if (!IsArchiveName(archive.name)) return node.At("name").Wrong("is no name of an archive");
  SHOAL_ASSIGN_OR_RETURN(const std::string file, node.At("file").String());
  if (file != archive.File()) return node.At("file").Wrong("is not \"" + archive.File() + "\"");
  SHOAL_ASSIGN_OR_RETURN(const std::int64_t bytes, node.At("bytes").Count());
  archive.bytes = static_cast<std::uint64_t>(bytes);
  if (archive.bytes == 0 || archive.bytes > kMaximumArchive) {
    return node.At("bytes").Wrong("is not between 1 and " + std::to_string(kMaximumArchive));
  }
  SHOAL_ASSIGN_OR_RETURN(archive.sha256, node.At("sha256").Sha256());
  SHOAL_ASSIGN_OR_RETURN(archive.chunks, node.At("chunks").Count());
  SHOAL_ASSIGN_OR_RETURN(archive.tokens, node.At("tokens").Count());
  SHOAL_ASSIGN_OR_RETURN(archive.licences, node.Strings("licences"));
  return archive;
}

absl::Status ReadMirror(const JsonNode& root, MirrorIndex& index) {
  SHOAL_ASSIGN_OR_RETURN(const std::string format, root.At("format").String());
  if (format != kMirrorFormat) {
    return root.At("format").Wrong(std::string("is not \"") + kMirrorFormat + "\"");
  }
  SHOAL_ASSIGN_OR_RETURN(const JsonNode list, root.List("archives"));
  for (std::size_t i = 0; i < list.value->size(); ++i) {
    SHOAL_ASSIGN_OR_RETURN(MirrorArchive archive, ReadMirrorArchive(list.At(i)));
    if (index.Find(archive.name).ok()) return list.At(i).Wrong("has a name that is taken");
    index.Put(std::move(archive));
  }
  return absl::OkStatus();
}

}  // namespace

bool IsArchiveName(std::string_view name) {
  return !name.empty() && name.size() <= kLongestName && IsAlphanumeric(name.front()) &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return IsAlphanumeric(c) || c == '.' || c == '_' || c == '-'; });
}

void MirrorIndex::Put(MirrorArchive archive) {
  const auto at = std::lower_bound(archives.begin(), archives.end(), archive.name, IsBefore);
  if (at != archives.end() && at->name == archive.name) {
    *at = std::move(archive);
  } else {
    archives.insert(at, std::move(archive));
  }
}

absl::StatusOr<MirrorArchive> MirrorIndex::Find(std::string_view name) const {
  const auto at = std::lower_bound(archives.begin(), archives.end(), name, IsBefore);
  if (at != archives.end() && at->name == name) return *at;
  std::string all;
  for (const MirrorArchive& archive : archives) all += " " + archive.name;
  return runtime::NotFound("no dataset is called \"" + std::string(name) + "\"; there are:" + all);
}

std::string MirrorIndex::ToJson() const {
  Json list = Json::array();
  for (const MirrorArchive& archive : archives) {
    list.push_back({{"name", archive.name},
                    {"file", archive.File()},
                    {"bytes", archive.bytes},
                    {"sha256", archive.sha256},
                    {"chunks", archive.chunks},
                    {"tokens", archive.tokens},
                    {"licences", archive.licences}});
  }
  const Json json = {{"format", kMirrorFormat}, {"archives", std::move(list)}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

absl::StatusOr<MirrorIndex> MirrorIndex::Parse(std::string_view text) {
  const auto document = content::ParseJsonDocument(text);
  if (!document.ok()) return runtime::DataLoss(runtime::Message(document.status()));
  MirrorIndex index;
  const absl::Status read = ReadMirror({&*document, ""}, index);
  if (!read.ok()) return runtime::DataLoss(runtime::Message(read));
  return index;
}

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
