// SPDX-License-Identifier: Apache-2.0
// A journal that keeps spilled payloads and chunks in memory, for tests of the core. It writes when
// the test says so, and fails or has damage where the test wants it. Nothing outlives it.
//
// Thread-safe.
#pragma once

#include <atomic>
#include <catch2/catch.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "platform/runtime/mutex.h"
#include "replay/journal.h"

namespace shoal::replay {

class MemoryDisk final : public Journal, private ContentHooks {
 public:
  // Writes everything that it was given, and says so.
  void Write() ABSL_LOCKS_EXCLUDED(mutex_) {
    {
      const runtime::MutexLock lock(mutex_);
      for (auto& [place, payload] : given_) written_[place] = std::move(payload);
      given_.clear();
      for (const Place& place : erased_) written_.erase(place);
      erased_.clear();
      for (auto& [number, data] : given_chunks_) written_chunks_[number] = std::move(data);
      given_chunks_.clear();
      for (const std::uint64_t number : evicted_) written_chunks_.erase(number);
      evicted_.clear();
      durable_ = noted_;
    }
    changed_();
  }
  // While it fails, nothing can be read.
  void Fail(bool fails) ABSL_LOCKS_EXCLUDED(mutex_) {
    const runtime::MutexLock lock(mutex_);
    fails_ = fails;
  }
  void Damage(std::size_t table, Handle handle) ABSL_LOCKS_EXCLUDED(mutex_) {
    const runtime::MutexLock lock(mutex_);
    REQUIRE(written_.erase({table, handle}) == 1);
  }
  void DamageChunk(std::uint64_t number) ABSL_LOCKS_EXCLUDED(mutex_) {
    const runtime::MutexLock lock(mutex_);
    REQUIRE(written_chunks_.erase(number) == 1);
  }
  // The numbers of the chunks that are on disk.
  std::set<std::uint64_t> WrittenChunks() const ABSL_LOCKS_EXCLUDED(mutex_) {
    const runtime::MutexLock lock(mutex_);
    std::set<std::uint64_t> numbers;
    for (const auto& [number, data] : written_chunks_) numbers.insert(number);
    return numbers;
  }
  // The numbers of the chunks that it was told of and that have not left.
  std::set<std::uint64_t> told_chunks() const ABSL_LOCKS_EXCLUDED(mutex_) {
    const runtime::MutexLock lock(mutex_);
    return told_;
  }
  // While it refuses, chunks cannot be read from views that were made before, but are not lost.
  void RefuseChunks(bool refuses) { *refuses_chunks_ = refuses; }
  // The handles of a table's payloads that are on disk.
  std::set<Handle> Written(std::size_t table) const ABSL_LOCKS_EXCLUDED(mutex_) {
    const runtime::MutexLock lock(mutex_);
    std::set<Handle> handles;
    for (const auto& [place, payload] : written_) {
      if (place.first == table) handles.insert(place.second);
    }
    return handles;
  }
  std::uint64_t writes() const ABSL_LOCKS_EXCLUDED(mutex_) {
    const runtime::MutexLock lock(mutex_);
    return writes_;
  }

  absl::Status Start(ContentStore& contents, std::span<const std::unique_ptr<Table>> tables,
                     std::function<void()> changed) override {
    changed_ = std::move(changed);
    for (std::size_t i = 0; i < tables.size(); ++i) {
      spills_.push_back(std::make_unique<TableSpill>(*this, i));
      tables[i]->SetSpill(spills_.back().get());
    }
    contents.SetHooks(this, ContentStore::Tell::kOfSpilled);
    return absl::OkStatus();
  }
  absl::Status Ready(std::size_t) const override { return absl::OkStatus(); }
  std::uint64_t AcknowledgedAt(std::size_t) const override { return 0; }
  std::uint64_t SampledAt(std::size_t) const override { return 0; }
  std::uint64_t durable() const override ABSL_LOCKS_EXCLUDED(mutex_) {
    const runtime::MutexLock lock(mutex_);
    return durable_;
  }
  bool readable() const override ABSL_LOCKS_EXCLUDED(mutex_) {
    const runtime::MutexLock lock(mutex_);
    return !fails_;
  }
  std::shared_ptr<const SpilledPayloads> Payloads() const override ABSL_LOCKS_EXCLUDED(mutex_) {
    const runtime::MutexLock lock(mutex_);
    if (fails_) return nullptr;
    auto view = std::make_shared<View>();
    view->payloads = written_;
    view->chunks = written_chunks_;
    view->refuses = refuses_chunks_;
    return view;
  }
  void WhenDurable(std::function<void(const absl::Status&)> done) override {
    done(absl::OkStatus());
  }
  void Checkpoint(const std::string&,
                  std::function<void(const absl::StatusOr<std::string>&)> done) override {
    done(runtime::FailedPrecondition("nothing outlives this journal"));
  }
  JournalStats stats() const override { return {}; }

 private:
  // A table and a handle.
  using Place = std::pair<std::size_t, Handle>;

  struct View final : SpilledPayloads {
    std::vector<absl::StatusOr<std::string>> Read(std::size_t table,
                                                  std::span<const Handle> handles) const override {
      std::vector<absl::StatusOr<std::string>> read;
      for (const Handle handle : handles) {
        const auto found = payloads.find({table, handle});
        if (found == payloads.end()) {
          read.emplace_back(runtime::DataLoss("the record is gone"));
        } else {
          read.emplace_back(found->second);
        }
      }
      return read;
    }
    std::vector<absl::StatusOr<std::string>> ReadChunks(
        std::span<const std::uint64_t> numbers) const override {
      std::vector<absl::StatusOr<std::string>> read;
      for (const std::uint64_t number : numbers) {
        const auto found = chunks.find(number);
        if (*refuses) {
          read.emplace_back(runtime::Unavailable("the disk cannot be read"));
        } else if (found == chunks.end()) {
          read.emplace_back(runtime::DataLoss("the record is gone"));
        } else {
          read.emplace_back(found->second);
        }
      }
      return read;
    }
    std::map<Place, std::string> payloads;
    std::map<std::uint64_t, std::string> chunks;
    std::shared_ptr<const std::atomic<bool>> refuses;
  };

  class TableSpill final : public Spill {
   public:
    TableSpill(MemoryDisk& disk, std::size_t table) : disk_(disk), table_(table) {}
    std::uint64_t Write(Handle handle, const std::shared_ptr<const Item>& item) override {
      const runtime::MutexLock lock(disk_.mutex_);
      REQUIRE(disk_.given_.emplace(Place{table_, handle}, std::string(item->payload)).second);
      REQUIRE_FALSE(disk_.written_.contains({table_, handle}));
      ++disk_.writes_;
      return ++disk_.noted_;
    }
    void Erase(Handle handle) override {
      const runtime::MutexLock lock(disk_.mutex_);
      disk_.erased_.insert({table_, handle});
      ++disk_.noted_;
    }

   private:
    MemoryDisk& disk_;
    const std::size_t table_;
  };

  std::uint64_t OnPut(std::uint64_t number,
                      const std::shared_ptr<const Content>& content) override {
    const runtime::MutexLock lock(mutex_);
    const auto& chunk = std::get<Chunk>(content->body);
    REQUIRE(given_chunks_.emplace(number, chunk.data).second);
    REQUIRE(told_.insert(number).second);
    return ++noted_;
  }
  void OnEvict(std::uint64_t number) override {
    const runtime::MutexLock lock(mutex_);
    REQUIRE(told_.erase(number) == 1);
    evicted_.insert(number);
    ++noted_;
  }

  const std::shared_ptr<std::atomic<bool>> refuses_chunks_ =
      std::make_shared<std::atomic<bool>>(false);
  std::function<void()> changed_;
  std::vector<std::unique_ptr<TableSpill>> spills_;
  mutable runtime::Mutex mutex_;
  std::map<Place, std::string> given_ ABSL_GUARDED_BY(mutex_);
  std::map<Place, std::string> written_ ABSL_GUARDED_BY(mutex_);
  std::set<Place> erased_ ABSL_GUARDED_BY(mutex_);
  std::map<std::uint64_t, std::string> given_chunks_ ABSL_GUARDED_BY(mutex_);
  std::map<std::uint64_t, std::string> written_chunks_ ABSL_GUARDED_BY(mutex_);
  std::set<std::uint64_t> evicted_ ABSL_GUARDED_BY(mutex_);
  // The chunks that it was told of and that are not evicted.
  std::set<std::uint64_t> told_ ABSL_GUARDED_BY(mutex_);
  std::uint64_t noted_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint64_t durable_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint64_t writes_ ABSL_GUARDED_BY(mutex_) = 0;
  bool fails_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace shoal::replay
