// SPDX-License-Identifier: Apache-2.0
#include "rl/training/checkpoint_folder.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>
#include <filesystem>
#include <functional>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

#include "platform/runtime/atomic_file.h"
#include "platform/runtime/file_failure.h"
#include "rl/training/digest_beside.h"

namespace shoal::training {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "checkpoint-";
constexpr std::string_view kWritingPrefix = ".writing-";
// Begins the names of checkpoints that are being written.
constexpr std::string_view kBegunPrefix = ".writing-checkpoint-";
constexpr const char* kManifest = "manifest.json";
constexpr const char* kLatest = "LATEST";

std::string FolderName(std::int64_t number) {
  std::string digits = std::to_string(number);
  digits.insert(0, digits.size() < 12 ? 12 - digits.size() : 0, '0');
  return std::string(kPrefix) + digits;
}

// Returns -1 for a folder that is not a checkpoint.
std::int64_t NumberOf(const std::string& folder) {
  if (!folder.starts_with(kPrefix)) return -1;
  const std::string digits = folder.substr(kPrefix.size());
  if (digits.empty() || digits.size() > 18) return -1;
  for (const char c : digits) {
    if (c < '0' || c > '9') return -1;
  }
  return std::stoll(digits);
}

// Returns the name that a folder has or will have once it counts.
std::string Committed(const std::string& name) {
  return name.starts_with(kWritingPrefix) ? name.substr(kWritingPrefix.size()) : name;
}

std::vector<std::string> Names(const std::string& root) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(root, error)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

absl::Status SyncFolder(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return runtime::Internal("cannot open folder " + path);
  const int error = ::fsync(fd) == 0 ? 0 : errno;
  ::close(fd);
  return error == 0 ? absl::OkStatus() : runtime::FileFailure(error, "cannot sync folder " + path);
}

// Puts the folder `from` in the place of `to`, which may exist. On a file system that can exchange
// two folders there is no moment without either; on others Begin finishes what a crash interrupts.
// After an error `to` is what it was.
absl::Status Replace(const std::string& from, const std::string& to) {
  if (!fs::exists(to)) {
    fs::rename(from, to);
    return absl::OkStatus();
  }
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) == 0) {
    // What stays is removed when the next one begins.
    std::error_code ignored;
    fs::remove_all(from, ignored);
    return absl::OkStatus();
  }
  if (const int error = errno; error != EINVAL && error != ENOSYS) {
    return runtime::FileFailure(error, "cannot rename " + from);
  }
  // While `to` is away, `from` is whole.
  const std::string replaced = from + "-replaced";
  fs::remove_all(replaced);
  fs::rename(to, replaced);
  std::error_code error;
  fs::rename(from, to, error);
  if (error) {
    fs::rename(replaced, to);
    return runtime::FileFailure(error.value(), "cannot rename " + from);
  }
  fs::remove_all(replaced, error);
  return absl::OkStatus();
}

template <typename Work>
absl::Status Guarded(const std::string& root, const Work& work) {
  try {
    return work();
  } catch (const fs::filesystem_error& error) {
    return runtime::FileFailure(error.code().value(),
                                "checkpoint in " + root + ", at " + error.path1().string());
  } catch (const std::exception& error) {
    return runtime::Internal("checkpoint in " + root + ": " + error.what());
  }
}

}  // namespace

std::string CheckpointFolder::PathOf(std::int64_t number) const {
  return root_ + "/" + FolderName(number);
}

std::string CheckpointFolder::WritingPathOf(std::int64_t number) const {
  return root_ + "/" + std::string(kWritingPrefix) + FolderName(number);
}

absl::Status CheckpointFolder::Begin(std::int64_t number) const {
  if (number < 0) return runtime::InvalidArgument("checkpoint: negative number");
  return Guarded(root_, [&]() -> absl::Status {
    const std::string writing = WritingPathOf(number);
    // A folder with a manifest counts already and may be the only copy, but a crash kept it from
    // being renamed.
    const bool counts = fs::exists(writing + "/" + kManifest);
    if (counts && !fs::exists(PathOf(number))) fs::rename(writing, PathOf(number));
    fs::remove_all(writing);
    SHOAL_RETURN_IF_ERROR(RemoveUncommitted());
    fs::create_directories(writing);
    return SyncFolder(root_);
  });
}

absl::Status CheckpointFolder::RemoveUncommitted() const {
  return Guarded(root_, [&] {
    for (const std::string& name : Names(root_)) {
      if (!name.starts_with(kBegunPrefix)) continue;
      // What Replace put aside is named otherwise; what takes its place is whole.
      const bool counts =
          NumberOf(Committed(name)) >= 0 && fs::exists(root_ + "/" + name + "/" + kManifest);
      if (!counts) fs::remove_all(root_ + "/" + name);
    }
    return absl::OkStatus();
  });
}

absl::StatusOr<FileDigest> CheckpointFolder::Put(std::int64_t number, const std::string& name,
                                                 const FileContent& content) const {
  if (!IsPlainName(name)) {
    return runtime::InvalidArgument("checkpoint: '" + name + "' is no plain file name");
  }
  DigestBeside digest(content.size());
  std::vector<std::string_view> pieces;
  for (const runtime::SharedBytes& piece : content.pieces()) {
    digest.Add(piece);
    pieces.push_back(piece.bytes);
  }
  SHOAL_RETURN_IF_ERROR(runtime::WriteFileAtomically(WritingPathOf(number) + "/" + name, pieces));
  return digest.Finish();
}

absl::Status CheckpointFolder::Commit(const CheckpointManifest& manifest) const {
  const std::string writing = WritingPathOf(manifest.number);
  const bool replaces = Has(manifest.number);
  const absl::Status committed = Guarded(root_, [&]() -> absl::Status {
    SHOAL_RETURN_IF_ERROR(
        runtime::WriteFileAtomically(writing + "/" + kManifest, ToText(manifest)));
    SHOAL_RETURN_IF_ERROR(Replace(writing, PathOf(manifest.number)));
    return SyncFolder(root_);
  });
  if (!committed.ok()) {
    std::error_code unknown;
    if (replaces && !fs::exists(PathOf(manifest.number), unknown)) {
      return runtime::Internal(writing + " may be the only copy: " + runtime::Message(committed));
    }
    absl::Status removed = Remove(writing);
    if (!replaces) removed.Update(Withdraw(manifest.number));
    return removed.ok() ? committed : removed;
  }
  runtime::WriteFileAtomically(root_ + "/" + kLatest, FolderName(manifest.number) + "\n")
      .IgnoreError();
  return committed;
}

bool CheckpointFolder::Has(std::int64_t number) const {
  std::error_code unknown;
  return fs::status(PathOf(number), unknown).type() != fs::file_type::not_found;
}

absl::Status CheckpointFolder::Withdraw(std::int64_t number) const {
  return Remove(PathOf(number));
}

absl::Status CheckpointFolder::WithdrawAfter(std::int64_t number) const {
  return RemoveWhere([number](const std::string&, std::int64_t of) { return of > number; });
}

absl::Status CheckpointFolder::WithdrawThese(const std::set<std::string>& manifests) const {
  return RemoveWhere([&](const std::string& name, std::int64_t number) {
    const auto manifest = ManifestIn(name, number);
    return manifest.ok() && manifests.contains(ToText(*manifest));
  });
}

absl::Status CheckpointFolder::RemoveWhere(
    const std::function<bool(const std::string& name, std::int64_t number)>& goes) const {
  bool removed = false;
  for (const std::string& name : Names(root_)) {
    const std::int64_t number = NumberOf(Committed(name));
    if (number < 0 || !goes(name, number)) continue;
    SHOAL_RETURN_IF_ERROR(Remove(root_ + "/" + name));
    removed = true;
  }
  const absl::Status synced = removed ? SyncFolder(root_) : absl::OkStatus();
  return synced.ok() ? synced
                     : runtime::Internal("what was removed from " + root_ +
                                         " may still count: " + runtime::Message(synced));
}

absl::Status CheckpointFolder::Remove(const std::string& path) const {
  const absl::Status removed = Guarded(root_, [&] {
    // Without it the others count for nothing.
    fs::remove(path + "/" + kManifest);
    fs::remove_all(path);
    return absl::OkStatus();
  });
  // What still counts is no matter of room, even where a full disk is what keeps it.
  return removed.ok() ? removed
                      : runtime::Internal(path + " may still count: " + runtime::Message(removed));
}

std::optional<std::int64_t> CheckpointFolder::NumberIn(const std::string& path) {
  const fs::path folder = fs::path(path + "/").parent_path().lexically_normal();
  const std::int64_t number = NumberOf(folder.filename().string());
  return number < 0 ? std::nullopt : std::optional(number);
}

std::set<std::int64_t> CheckpointFolder::BestOf(std::vector<CheckpointManifest> manifests,
                                                std::int64_t count) {
  std::erase_if(manifests, [](const auto& manifest) { return !manifest.mean_return; });
  std::sort(manifests.begin(), manifests.end(), [](const auto& a, const auto& b) {
    return a.mean_return != b.mean_return ? a.mean_return > b.mean_return : a.number < b.number;
  });
  std::set<std::int64_t> best;
  for (const CheckpointManifest& manifest : manifests) {
    if (std::ssize(best) < count) best.insert(manifest.number);
  }
  return best;
}

absl::Status CheckpointFolder::Keep(const KeptCheckpoints& kept, std::int64_t last) const {
  std::vector<std::string> problems;
  std::vector<CheckpointManifest> manifests;
  if (kept.best > 0) manifests = Manifests(problems);
  std::erase_if(manifests, [last](const auto& manifest) { return manifest.number > last; });
  return Keep(kept.newest, BestOf(std::move(manifests), kept.best), last);
}

absl::Status CheckpointFolder::Keep(std::int64_t newest, const std::set<std::int64_t>& best,
                                    std::int64_t last) const {
  const absl::Status removed = Guarded(root_, [&] {
    std::vector<std::int64_t> numbers;
    for (const std::string& name : Names(root_)) {
      if (name.starts_with(kWritingPrefix)) fs::remove_all(root_ + "/" + name);
      const std::int64_t number = NumberOf(name);
      if (number >= 0 && number <= last) numbers.push_back(number);
    }
    std::sort(numbers.begin(), numbers.end(), std::greater<>());
    const auto kept = static_cast<std::size_t>(std::max<std::int64_t>(newest, 1));
    for (std::size_t i = kept; i < numbers.size(); ++i) {
      if (!best.contains(numbers[i])) fs::remove_all(PathOf(numbers[i]));
    }
    return absl::OkStatus();
  });
  return absl::IsResourceExhausted(removed) ? absl::OkStatus() : removed;
}

std::vector<CheckpointManifest> CheckpointFolder::Manifests(
    std::vector<std::string>& problems) const {
  std::vector<CheckpointManifest> manifests;
  for (const std::string& name : Names(root_)) {
    const std::int64_t number = NumberOf(Committed(name));
    if (number < 0) continue;
    auto manifest = ManifestIn(name, number);
    if (manifest.ok()) {
      manifests.push_back(*std::move(manifest));
    } else if (!name.starts_with(kWritingPrefix)) {
      problems.push_back(runtime::Message(manifest.status()));
    }
  }
  std::stable_sort(manifests.begin(), manifests.end(),
                   [](const auto& a, const auto& b) { return a.number > b.number; });
  return manifests;
}

absl::StatusOr<CheckpointManifest> CheckpointFolder::ManifestIn(const std::string& name,
                                                                std::int64_t number) const {
  const std::string path = root_ + "/" + name + "/" + kManifest;
  SHOAL_ASSIGN_OR_RETURN(const std::string text, runtime::ReadFile(path, std::size_t{1} << 24));
  SHOAL_ASSIGN_OR_RETURN(CheckpointManifest manifest, ParseManifest(text, path));
  // Where a folder was renamed, its name is what people mean.
  manifest.number = number;
  return manifest;
}

bool CheckpointFolder::Holds(std::int64_t number, const std::string& name,
                             const FileDigest& digest) const {
  const std::array folders = {PathOf(number), WritingPathOf(number)};
  return std::any_of(folders.begin(), folders.end(), [&](const std::string& folder) {
    std::error_code missing;
    const auto bytes = fs::file_size(folder + "/" + name, missing);
    return !missing && bytes == digest.bytes;
  });
}

absl::StatusOr<FileContent> CheckpointFolder::Read(std::int64_t number, const std::string& name,
                                                   const FileDigest& digest) const {
  absl::Status failure = runtime::NotFound(PathOf(number) + " has no " + name);
  for (const std::string& folder : std::array{PathOf(number), WritingPathOf(number)}) {
    const std::string path = folder + "/" + name;
    DigestBeside read(digest.bytes);
    absl::StatusOr<runtime::SharedBytes> bytes = runtime::ReadSharedFile(
        path, digest.bytes, [&read](const runtime::SharedBytes& part) { read.Add(part); });
    if (bytes.ok() && read.Finish() == digest) {
      FileContent content;
      content.Append(*std::move(bytes));
      return content;
    }
    if (bytes.ok()) {
      failure = runtime::DataLoss(path + " is not what was written");
    } else if (!absl::IsNotFound(bytes.status())) {
      failure = bytes.status();
    }
  }
  return failure;
}

}  // namespace shoal::training
