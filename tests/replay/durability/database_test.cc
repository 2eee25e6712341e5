// SPDX-License-Identifier: Apache-2.0
#include "replay/durability/database.h"

#include <sys/resource.h>

#include <catch2/catch.hpp>
#include <cstdint>
#include <filesystem>
#include <string>

#include "platform/runtime/random.h"
#include "replay/durability/records.h"
#include "tests/doubles/eventually.h"
#include "tests/doubles/temporary_folder.h"

namespace shoal::replay::durability {
namespace {

constexpr std::size_t kValueBytes = 256 << 10;
constexpr std::uint64_t kBatchValues = 16;
constexpr std::uint64_t kKept = 128;

class LargeValues {
 public:
  explicit LargeValues(const std::string& directory)
      : directory_(directory), database_(*Database::Open(directory, rocksdb::Env::Default())) {
    runtime::Random random(1);
    for (char& byte : noise_) byte = static_cast<char>(random());
  }

  // Writes so many values, and meanwhile deletes those that are older than kKept values, but for
  // each eighth.
  void Write(std::uint64_t values) {
    while (written_ < values) {
      rocksdb::WriteBatch batch;
      for (std::uint64_t i = 0; i < kBatchValues; ++i, ++written_) {
        REQUIRE(batch.Put(items(), ItemKey("t", written_), ValueOf(written_)).ok());
      }
      for (; deleted_ + kKept < written_; ++deleted_) {
        if (deleted_ % 8 != 0) REQUIRE(batch.Delete(items(), ItemKey("t", deleted_)).ok());
      }
      REQUIRE(database_->Write(batch).ok());
    }
  }
  bool Has(std::uint64_t number) const {
    std::string value;
    const auto status = database_->db().Get({}, items(), ItemKey("t", number), &value);
    return status.ok() && value == ValueOf(number);
  }
  std::uintmax_t BytesOnDisk() const {
    std::uintmax_t bytes = 0;
    std::error_code gone;
    for (const auto& entry : std::filesystem::directory_iterator(directory_)) {
      if (entry.path().extension() != ".blob") continue;
      const std::uintmax_t size = entry.file_size(gone);
      if (!gone) bytes += size;
    }
    return bytes;
  }

 private:
  rocksdb::ColumnFamilyHandle* items() const { return database_->column(Column::kItems); }
  std::string ValueOf(std::uint64_t number) const {
    return noise_.substr(number % 1000, kValueBytes);
  }

  const std::string directory_;
  const std::unique_ptr<Database> database_;
  std::string noise_ = std::string(kValueBytes + 1000, '\0');
  std::uint64_t written_ = 0;
  std::uint64_t deleted_ = 0;
};

TEST_CASE("large values that are deleted here and there give their space back") {
  const doubles::TemporaryFolder folder;
  LargeValues values(folder.path());
  std::uint64_t count = 2048;
  constexpr std::uint64_t kMostValues = 4096;
  values.Write(count);
  // A fifth of these bytes is used. Whether garbage is collected is decided now and then while
  // values are written.
  REQUIRE(doubles::Eventually([&] {
    if (count < kMostValues) values.Write(count += kBatchValues);
    return values.BytesOnDisk() < count * kValueBytes * 3 / 4;
  }));
  for (std::uint64_t number = 0; number < count; ++number) {
    INFO(number);
    REQUIRE(values.Has(number) == (number + kKept >= count || number % 8 == 0));
  }
}

TEST_CASE("the databases of a process take at most half of its file descriptors together") {
  rlimit limit = {};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &limit) == 0);
  constexpr std::size_t kDatabases = 3;
  const doubles::TemporaryFolder folder;
  rlim_t open = 0;
  for (std::size_t i = 0; i < kDatabases; ++i) {
    const auto database =
        *Database::Open(folder.At(std::to_string(i)), rocksdb::Env::Default(), kDatabases);
    // Each file may be open twice.
    open += 2 * static_cast<rlim_t>(database->db().GetDBOptions().max_open_files);
  }
  REQUIRE(open <= limit.rlim_cur / 2);
}

}  // namespace
}  // namespace shoal::replay::durability
