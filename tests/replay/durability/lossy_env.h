// SPDX-License-Identifier: Apache-2.0
// RocksDB's view of a disk that loses what was not synced: after Die and Revive the files hold only
// what had been synced, as after a power cut. Otherwise the page cache would keep it. The disk can
// also be full or read-only, and syncs can be made to wait.
//
// Thread-safe.
#pragma once

#include <rocksdb/env.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "platform/runtime/mutex.h"

namespace shoal::replay::durability {

class LossyEnv final : public rocksdb::EnvWrapper {
 public:
  LossyEnv() : EnvWrapper(rocksdb::Env::Default()) {}
  const char* Name() const override { return "LossyEnv"; }

  // Nothing can be written any more.
  void Die() { SetFailure(rocksdb::Status::IOError("the power is off")); }
  void Fill() { SetFailure(rocksdb::Status::NoSpace("the disk is full")); }
  void Protect() { SetFailure(rocksdb::Status::IOError("Read-only file system")); }
  void Free() { SetFailure(rocksdb::Status::OK()); }
  // Throws away what was not synced, and works again. Call it after Die, with all files closed.
  void Revive() {
    const runtime::MutexLock lock(mutex_);
    for (const auto& [name, synced] : synced_) {
      if (!std::filesystem::exists(name)) continue;
      if (synced == 0) {
        std::filesystem::remove(name);
      } else if (std::filesystem::file_size(name) > synced) {
        std::filesystem::resize_file(name, synced);
      }
    }
    synced_.clear();
    failure_ = rocksdb::Status::OK();
  }
  void HoldSyncs(bool hold) {
    const runtime::MutexLock lock(mutex_);
    hold_ = hold;
    held_.NotifyAll();
  }

  rocksdb::Status NewWritableFile(const std::string& name,
                                  std::unique_ptr<rocksdb::WritableFile>* file,
                                  const rocksdb::EnvOptions& options) override {
    const rocksdb::Status failure = this->failure();
    if (!failure.ok()) return failure;
    std::unique_ptr<rocksdb::WritableFile> made;
    const rocksdb::Status status = EnvWrapper::NewWritableFile(name, &made, options);
    if (!status.ok()) return status;
    SetSynced(name, 0);
    file->reset(new File(*this, name, std::move(made)));
    return status;
  }
  rocksdb::Status RenameFile(const std::string& from, const std::string& to) override {
    const rocksdb::Status failure = this->failure();
    if (!failure.ok()) return failure;
    const runtime::MutexLock lock(mutex_);
    if (const auto found = synced_.find(from); found != synced_.end()) {
      synced_[to] = found->second;
      synced_.erase(from);
    }
    return EnvWrapper::RenameFile(from, to);
  }
  rocksdb::Status DeleteFile(const std::string& name) override {
    const rocksdb::Status failure = this->failure();
    if (!failure.ok()) return failure;
    const runtime::MutexLock lock(mutex_);
    synced_.erase(name);
    return EnvWrapper::DeleteFile(name);
  }

 private:
  class File final : public rocksdb::WritableFileWrapper {
   public:
    File(LossyEnv& env, std::string name, std::unique_ptr<rocksdb::WritableFile> file)
        : WritableFileWrapper(file.get()),
          env_(env),
          name_(std::move(name)),
          file_(std::move(file)) {}
    using WritableFileWrapper::Append;
    rocksdb::Status Append(const rocksdb::Slice& data) override {
      const rocksdb::Status failure = env_.failure();
      if (!failure.ok()) return failure;
      size_ += data.size();
      return WritableFileWrapper::Append(data);
    }
    rocksdb::Status Sync() override { return Synced(WritableFileWrapper::Sync()); }
    rocksdb::Status Fsync() override { return Synced(WritableFileWrapper::Fsync()); }

   private:
    rocksdb::Status Synced(const rocksdb::Status& status) {
      env_.AwaitSyncs();
      const rocksdb::Status failure = env_.failure();
      if (!failure.ok()) return failure;
      env_.SetSynced(name_, size_);
      return status;
    }

    LossyEnv& env_;
    const std::string name_;
    const std::unique_ptr<rocksdb::WritableFile> file_;
    std::uint64_t size_ = 0;
  };

  rocksdb::Status failure() {
    const runtime::MutexLock lock(mutex_);
    return failure_;
  }
  void SetFailure(rocksdb::Status failure) {
    const runtime::MutexLock lock(mutex_);
    failure_ = std::move(failure);
    hold_ = false;
    held_.NotifyAll();
  }
  void SetSynced(const std::string& name, std::uint64_t size) {
    const runtime::MutexLock lock(mutex_);
    synced_[name] = size;
  }
  void AwaitSyncs() {
    const runtime::MutexLock lock(mutex_);
    while (hold_) held_.Wait(mutex_);
  }

  runtime::Mutex mutex_;
  runtime::CondVar held_;
  // The bytes of each file that are safe.
  std::map<std::string, std::uint64_t> synced_ ABSL_GUARDED_BY(mutex_);
  rocksdb::Status failure_ ABSL_GUARDED_BY(mutex_);
  bool hold_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace shoal::replay::durability
