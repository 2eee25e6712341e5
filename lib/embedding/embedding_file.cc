// SPDX-License-Identifier: Apache-2.0
#include "embedding/embedding_file.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "embedding/embedding_database.h"
#include "embedding/optional_counter.h"
#include "embedding/retry_wait.h"
#include "runtime/check.h"
#include "runtime/log.h"
#include "runtime/mutex.h"

namespace shoal::embedding {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMinimumBytes = std::int64_t{64} << 10;

// Which file a path leads to: another process may have put a new one there.
struct FileIdentity {
  dev_t device = 0;
  ino_t number = 0;

  static FileIdentity Of(const std::string& path) {
    struct stat found = {};
    if (::stat(path.c_str(), &found) != 0) return {};
    return {found.st_dev, found.st_ino};
  }
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

// The log goes first: left behind, it would be taken for the next file's.
absl::Status MoveAside(const std::string& path) {
  std::error_code error;
  fs::rename(path + "-wal", path + ".damaged-wal", error);
  fs::remove(path + "-shm", error);
  fs::rename(path, path + ".damaged", error);
  if (!error) return absl::OkStatus();
  return runtime::FailedPrecondition("cannot be moved to " + path + ".damaged: " + error.message());
}

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
    const FileIdentity before = FileIdentity::Of(options_.path);
    auto opened = EmbeddingDatabase::Open(options_.path, options_.max_bytes);
    if (absl::IsDataLoss(opened.status())) {
      SHOAL_RETURN_IF_ERROR(Replace(before, opened.status()));
      opened = EmbeddingDatabase::Open(options_.path, options_.max_bytes);
    }
    SHOAL_RETURN_IF_ERROR(opened.status());
    database_ = *std::move(opened);
    identity_ = FileIdentity::Of(options_.path);
    return absl::OkStatus();
  }

  // Moves the file aside if it is still `damaged`.
  absl::Status Replace(const FileIdentity& damaged, const absl::Status& why) const {
    if (FileIdentity::Of(options_.path) != damaged) return absl::OkStatus();
    SHOAL_RETURN_IF_ERROR(MoveAside(options_.path));
    spdlog::warn("event=embedding_file_damaged file={} moved_to={} reason={}",
                 runtime::Quoted(options_.path), runtime::Quoted(options_.path + ".damaged"),
                 runtime::Quoted(runtime::Message(why)));
    return absl::OkStatus();
  }

  void Take(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (status.ok()) return;
    if (!absl::IsDataLoss(status)) return CountFailure(status);
    CountFailure();
    database_.reset();
    absl::Status replaced = Replace(identity_, status);
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
