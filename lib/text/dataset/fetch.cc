// SPDX-License-Identifier: Apache-2.0
#include "text/dataset/fetch.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <utility>

#include "platform/http/tls_context.h"
#include "text/dataset/dataset_files.h"
#include "text/dataset/mirror_client.h"
#include "text/dataset/mirror_index.h"
#include "text/dataset/pack.h"

namespace shoal::dataset {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kDigestDigits = 16;

bool Passes(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status);
}

// The part of an archive that was fetched so far.
class PartFile {
 public:
  explicit PartFile(std::string path) : path_(std::move(path)) {
    std::error_code error;
    const std::uintmax_t found = fs::file_size(path_, error);
    size_ = error ? 0 : found;
  }

  const std::string& path() const { return path_; }
  std::uint64_t size() const { return size_; }

  absl::Status Put(const MirrorClient::Piece& piece) {
    std::error_code error;
    const fs::path folder = fs::path(path_).parent_path();
    if (!folder.empty()) fs::create_directories(folder, error);
    if (piece.offset == 0) Remove();
    std::ofstream file(path_, std::ios::binary | std::ios::app);
    file.write(piece.bytes.data(), static_cast<std::streamsize>(piece.bytes.size()));
    file.close();
    if (!file) return runtime::Internal("cannot write " + path_);
    size_ = piece.offset + piece.bytes.size();
    return absl::OkStatus();
  }

  void Remove() {
    std::error_code ignored;
    fs::remove(path_, ignored);
    size_ = 0;
  }

 private:
  const std::string path_;
  std::uint64_t size_ = 0;
};

absl::Status Download(const FetchOptions& options, const MirrorArchive& archive,
                      MirrorClient& client, PartFile& part, const FetchObserver& observer) {
  if (part.size() > archive.bytes) part.Remove();
  FetchProgress progress{.bytes = part.size(), .total = archive.bytes};
  for (int failures = 0; part.size() < archive.bytes;) {
    const std::uint64_t end = std::min(archive.bytes, part.size() + options.piece_bytes);
    const auto piece = client.ReadPiece(archive.File(), part.size(), end, archive.bytes);
    if (piece.ok()) {
      SHOAL_RETURN_IF_ERROR(part.Put(*piece));
      failures = 0;
    } else if (Passes(piece.status()) && failures < options.retries) {
      ++failures;
      ++progress.breaks;
    } else {
      return runtime::Annotate(piece.status(), "after " + std::to_string(part.size()) +
                                                   " bytes of " + std::to_string(archive.bytes));
    }
    progress.bytes = part.size();
    if (observer) observer(progress);
  }
  return absl::OkStatus();
}

// Parses the URL of a mirror's folder.
absl::StatusOr<http::Url> MirrorUrl(std::string_view text) {
  if (text.find_first_of("?#") != std::string_view::npos) {
    return http::WrongUrl(text, "it has a query or a fragment");
  }
  SHOAL_ASSIGN_OR_RETURN(http::Url url, http::ParseUrl(text));
  if (!url.target.ends_with('/')) url.target += '/';
  return url;
}

absl::StatusOr<Manifest> FetchOverHttp(const FetchOptions& options, const FetchObserver& observer) {
  MirrorClient::Options connection{.deadline = options.deadline,
                                   .max_body_bytes = kMaximumMirrorIndex};
  SHOAL_ASSIGN_OR_RETURN(connection.url, MirrorUrl(options.mirror));
  if (connection.url.secure) {
    SHOAL_ASSIGN_OR_RETURN(connection.tls,
                           http::ClientTls({.authority_file = options.authority_file}));
  }
  const std::string file(kMirrorFile);
  SHOAL_ASSIGN_OR_RETURN(const std::string text, MirrorClient(connection).Read(file));
  const auto index = MirrorIndex::Parse(text);
  if (!index.ok())
    return runtime::Annotate(index.status(),
                             connection.url.Origin() + connection.url.target + file);
  SHOAL_ASSIGN_OR_RETURN(const MirrorArchive archive, index->Find(options.name));

  connection.max_body_bytes =
      static_cast<std::int64_t>(std::max<std::uint64_t>(archive.bytes, kMaximumMirrorIndex));
  MirrorClient client(connection);
  PartFile part(options.destination + "." + archive.sha256.substr(0, kDigestDigits) + ".part");
  SHOAL_RETURN_IF_ERROR(Download(options, archive, client, part, observer));
  const absl::Status right = VerifyArchive(part.path(), archive);
  if (!right.ok()) {
    part.Remove();
    return right;
  }
  SHOAL_ASSIGN_OR_RETURN(Manifest manifest,
                         UnpackDataset({.archive = part.path(), .folder = options.destination}));
  part.Remove();
  return manifest;
}

absl::StatusOr<Manifest> FetchFromFolder(const FetchOptions& options,
                                         const FetchObserver& observer) {
  SHOAL_ASSIGN_OR_RETURN(const MirrorIndex index, ReadMirrorIndex(options.mirror));
  SHOAL_ASSIGN_OR_RETURN(const MirrorArchive archive, index.Find(options.name));
  const std::string path = DatasetPath(options.mirror, archive.File());
  SHOAL_RETURN_IF_ERROR(VerifyArchive(path, archive));
  if (observer) observer({.bytes = archive.bytes, .total = archive.bytes});
  return UnpackDataset({.archive = path, .folder = options.destination});
}

}  // namespace

absl::StatusOr<Manifest> FetchDataset(const FetchOptions& options, const FetchObserver& observer) {
  if (options.piece_bytes == 0) return runtime::InvalidArgument("a piece of 0 bytes is none");
  FetchOptions trimmed = options;
  trimmed.destination = WithoutTrailingSlashes(options.destination);
  SHOAL_RETURN_IF_ERROR(RequireFreeFolder(trimmed.destination));
  return http::HasScheme(options.mirror) ? FetchOverHttp(trimmed, observer)
                                         : FetchFromFolder(trimmed, observer);
}

}  // namespace shoal::dataset
