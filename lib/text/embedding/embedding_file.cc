// SPDX-License-Identifier: Apache-2.0
#include "text/embedding/embedding_file.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "platform/runtime/check.h"
#include "platform/runtime/log.h"
#include "platform/runtime/mutex.h"
#include "text/embedding/damaged_file.h"
#include "text/embedding/embedding_database.h"
#include "text/embedding/file_identity.h"
#include "text/embedding/file_lock.h"
#include "text/embedding/optional_counter.h"
#include "text/embedding/retry_wait.h"

namespace shoal::embedding {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMinimumBytes = std::int64_t{64} << 10;

// Of these one can only wait for the end.
bool MayPass(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsResourceExhausted(status);
}

}  // namespace

class EmbeddingFile::State {
 public:
  State(EmbeddingFileOptions options, runtime::Metrics* metrics, const runtime::Clock& clock)
      : options_(std::move(options)),
        found_total_(metrics, "shoal_embedding_file_found_total", "Vectors found in the file"),
        missing_total_(metrics, "shoal_embedding_file_missing_total",
                       "Vectors that the file did not have"),
        inserted_total_(metrics, "shoal_embedding_file_inserted_total",
                        "Vectors given to the file"),
        failures_total_(metrics, "shoal_embedding_file_failures_total",
                        "Reads and writes of the file of vectors that failed"),
        retry_(clock) {}

  absl::Status Open() {
    const runtime::MutexLock lock(mutex_);
    const absl::Status opened = OpenLocked();
    if (!MayPass(opened)) return opened;
    retry_.Failed();
    CountFailure(opened);
    return absl::OkStatus();
  }

  std::vector<Embedding> Find(const std::string& version, std::size_t dimension,
                              std::span<const content::ContentKey> keys) {
    std::vector<Embedding> found(keys.size());
    if (keys.empty()) return found;
    const runtime::MutexLock lock(mutex_);
    if (database_ != nullptr) {
      Take(database_->Find(version, dimension, keys, found));
    }
    const auto missing = static_cast<std::size_t>(std::count(found.begin(), found.end(), nullptr));
    found_total_.Add(keys.size() - missing);
    missing_total_.Add(missing);
    return found;
  }

  void Insert(const std::string& version, std::size_t dimension,
              std::span<const content::ContentKey> keys, std::span<const std::uint16_t> values) {
    if (keys.empty()) return;
    const runtime::MutexLock lock(mutex_);
    if (retry_.waits()) return CountFailure();
    // What is written to a file that was moved aside is lost.
    if (FileIdentity::Of(options_.path) != identity_) database_.reset();
    if (database_ == nullptr) {
      const absl::Status opened = OpenLocked();
      if (!opened.ok()) {
        retry_.Failed();
        return CountFailure(opened);
      }
    }
    const absl::Status inserted = database_->Insert(version, dimension, keys, values);
    if (inserted.ok()) {
      retry_.Succeeded();
      inserted_total_.Add(keys.size());
    } else if (!absl::IsDataLoss(inserted)) {
      retry_.Failed();
    }
    Take(inserted);
  }

  std::uint64_t failures() const {
    const runtime::MutexLock lock(mutex_);
    return failures_;
  }

  std::uint64_t rows() {
    const runtime::MutexLock lock(mutex_);
    if (database_ == nullptr) return 0;
    const auto rows = database_->rows();
    Take(rows.status());
    return rows.ok() ? static_cast<std::uint64_t>(*rows) : 0;
  }

 private:
  absl::Status OpenLocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const absl::Status opened = OpenAsItIs();
    if (!absl::IsDataLoss(opened)) return opened;
    SHOAL_RETURN_IF_ERROR(Replace(opened));
    return OpenAsItIs();
  }

  absl::Status OpenAsItIs() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    // First, so that nothing is made beside a file of something else.
    SHOAL_RETURN_IF_ERROR(EmbeddingDatabase::CheckHeader(options_.path));
    SHOAL_ASSIGN_OR_RETURN(const FileLock lock, FileLock::TryShared(options_.path + ".lock"));
    identity_ = FileIdentity::Of(options_.path);
    SHOAL_ASSIGN_OR_RETURN(database_, EmbeddingDatabase::Open(options_.path, options_.max_bytes));
    return absl::OkStatus();
  }

  // Moves the file aside if it is still the one that was opened, and ours.
  absl::Status Replace(const absl::Status& why) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    SHOAL_ASSIGN_OR_RETURN(const FileLock lock, FileLock::TryExclusive(options_.path + ".lock"));
    if (FileIdentity::Of(options_.path) != identity_) return absl::OkStatus();
    SHOAL_RETURN_IF_ERROR(EmbeddingDatabase::CheckHeader(options_.path));
    SHOAL_ASSIGN_OR_RETURN(const std::string moved_to, MoveAside(options_.path));
    spdlog::warn("event=embedding_file_damaged file={} moved_to={} reason={}",
                 runtime::Quoted(options_.path), runtime::Quoted(moved_to),
                 runtime::Quoted(runtime::Message(why)));
    return absl::OkStatus();
  }

  void Take(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (status.ok()) return;
    if (!absl::IsDataLoss(status)) return CountFailure(status);
    CountFailure();
    database_.reset();
    absl::Status replaced = Replace(status);
    if (replaced.ok()) replaced = OpenLocked();
    if (replaced.ok()) return;
    retry_.Failed();
    Warn(replaced);
  }

  void CountFailure() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    ++failures_;
    failures_total_.Add(1);
  }

  void CountFailure(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    CountFailure();
    Warn(status);
  }

  void Warn(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (!warned_.insert(status.code()).second) return;
    spdlog::warn("event=embedding_file_failed file={} reason={} next=counted_only",
                 runtime::Quoted(options_.path), runtime::Quoted(runtime::Message(status)));
  }

  const EmbeddingFileOptions options_;
  const OptionalCounter found_total_;
  const OptionalCounter missing_total_;
  const OptionalCounter inserted_total_;
  const OptionalCounter failures_total_;

  mutable runtime::Mutex mutex_;
  // Null while it cannot be opened; an Insert after the wait tries again.
  std::unique_ptr<EmbeddingDatabase> database_ ABSL_GUARDED_BY(mutex_);
  FileIdentity identity_ ABSL_GUARDED_BY(mutex_);
  std::uint64_t failures_ ABSL_GUARDED_BY(mutex_) = 0;
  std::set<absl::StatusCode> warned_ ABSL_GUARDED_BY(mutex_);
  RetryWait retry_ ABSL_GUARDED_BY(mutex_);
};

absl::StatusOr<std::unique_ptr<EmbeddingFile>> EmbeddingFile::Open(
    const EmbeddingFileOptions& options, runtime::Metrics* metrics, const runtime::Clock& clock) {
  if (options.path.empty()) return runtime::InvalidArgument("the path is empty");
  if (options.max_bytes < kMinimumBytes) {
    return runtime::InvalidArgument(options.path + ": " + std::to_string(options.max_bytes) +
                                    " bytes are less than " + std::to_string(kMinimumBytes));
  }
  const fs::path folder = fs::path(options.path).parent_path();
  std::error_code error;
  if (!folder.empty()) fs::create_directories(folder, error);
  if (error) {
    return runtime::FailedPrecondition(folder.string() + ": " + error.message());
  }
  if (fs::exists(options.path, error) && !fs::is_regular_file(options.path, error)) {
    return runtime::FailedPrecondition(options.path + " is no plain file");
  }
  auto state = std::make_unique<State>(options, metrics, clock);
  const absl::Status opened = state->Open();
  if (!opened.ok()) {
    return runtime::FailedPrecondition(options.path + ": " + runtime::Message(opened));
  }
  return std::unique_ptr<EmbeddingFile>(new EmbeddingFile(std::move(state)));
}

EmbeddingFile::EmbeddingFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
EmbeddingFile::~EmbeddingFile() = default;

std::vector<Embedding> EmbeddingFile::Find(const std::string& version, std::size_t dimension,
                                           std::span<const content::ContentKey> keys) {
  return state_->Find(version, dimension, keys);
}

void EmbeddingFile::Insert(const std::string& version, std::size_t dimension,
                           std::span<const content::ContentKey> keys,
                           std::span<const std::uint16_t> values) {
  SHOAL_CHECK(dimension > 0 && values.size() == keys.size() * dimension);
  state_->Insert(version, dimension, keys, values);
}

std::uint64_t EmbeddingFile::failures() const { return state_->failures(); }
std::uint64_t EmbeddingFile::rows() { return state_->rows(); }

}  // namespace shoal::embedding
