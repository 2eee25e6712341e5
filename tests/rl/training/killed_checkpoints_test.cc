// SPDX-License-Identifier: Apache-2.0
// Ranks that are killed at any moment while they save a checkpoint, and disks that take their time
// or are full.
//
// The functions that change a disk are replaced by ones that count the calls, and wait, fail or end
// the process at one of them.
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <cerrno>
#include <optional>
#include <thread>

#include "tests/doubles/full_disk.h"
#include "tests/rl/training/machines.h"

namespace shoal::training {
namespace {

constexpr int kKilled = 77;

// The number of the call that is the last; 0: none.
std::atomic<int> last_call{0};
std::atomic<int> calls{0};

// The number of the first call without room, of those that need some, and whether later ones have
// none either; 0: all have room.
std::atomic<int> full_at_call{0};
std::atomic<bool> stays_full{false};
std::atomic<int> refused{0};

// Whether folders can be exchanged.
std::atomic<bool> exchanges{true};

// What nothing can be renamed to; empty: anything can.
std::string no_way_to;

// Whether manifests can be removed.
std::atomic<bool> removes{true};

// Whether calls wait.
std::atomic<bool> held{false};

void Count() {
  while (held.load()) std::this_thread::yield();
  if (last_call.load() > 0 && calls.fetch_add(1) + 1 == last_call.load()) ::_exit(kKilled);
}

template <typename Result, typename... Arguments>
Result Counted(long number, Arguments... arguments) {
  Count();
  return static_cast<Result>(::syscall(number, arguments...));
}

// Counts a call that needs room, and returns whether there is none.
bool IsFull() {
  if (full_at_call.load() == 0) return false;
  const int call = calls.fetch_add(1) + 1;
  if (call < full_at_call.load() || (call > full_at_call.load() && !stays_full)) return false;
  ++refused;
  errno = ENOSPC;
  return true;
}

// Whether what is written there goes to a disk without room.
bool IsFull(int file) {
  if (doubles::FullDisk::HasNoRoom(file)) {
    errno = ENOSPC;
    return true;
  }
  struct stat info {};
  return ::fstat(file, &info) == 0 && S_ISREG(info.st_mode) && IsFull();
}

template <typename Result, typename... Arguments>
Result WithRoom(long number, Arguments... arguments) {
  if (IsFull()) return -1;
  return Counted<Result>(number, arguments...);
}

// A disk that stays full has room for other names of what is there.
template <typename... Arguments>
int Renamed(long number, Arguments... arguments) {
  return stays_full ? Counted<int>(number, arguments...) : WithRoom<int>(number, arguments...);
}

// Runs `save`, which returns whether it has saved, in a process of its own that is killed at the
// given call. Returns whether it ended before that call.
template <typename Save>
bool EndsBeforeCall(int call, const Save& save) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    last_call = call;
    ::_exit(save() ? 0 : 1);
  }
  int state = 0;
  REQUIRE(::waitpid(child, &state, 0) == child);
  REQUIRE(WIFEXITED(state));
  REQUIRE((WEXITSTATUS(state) == 0 || WEXITSTATUS(state) == kKilled));
  return WEXITSTATUS(state) == 0;
}

// Saves a checkpoint, whose ranks are all killed at the given call. Returns whether they ended
// before that call.
bool SavesBeforeCall(const Machines& machines, std::size_t ranks, std::int64_t number, int call) {
  return EndsBeforeCall(call, [&] {
    bool saved = true;
    for (const absl::Status& end :
         doubles::TryRanks(ranks, [&](std::size_t rank, GradientReducer&reducer) {
           return SaveOnRank(machines.Of(rank), reducer, number);
         })) {
      saved = saved && end.ok();
    }
    return saved;
  });
}

}  // namespace
}  // namespace shoal::training

extern "C" {
ssize_t write(int file, const void* bytes, size_t size) {
  if (shoal::training::IsFull(file)) return -1;
  return shoal::training::Counted<ssize_t>(SYS_write, file, bytes, size);
}
// The kernel keeps what a process has written before it is killed.
int fsync(int) {
  shoal::training::Count();
  return shoal::training::IsFull() ? -1 : 0;
}
int rename(const char* from, const char* to) noexcept {
  if (to == shoal::training::no_way_to) {
    errno = ENOSPC;
    return -1;
  }
  return shoal::training::Renamed(SYS_rename, from, to);
}
int renameat2(int from_folder, const char* from, int to_folder, const char* to,
              unsigned int flags) noexcept {
  if (!shoal::training::exchanges) {
    errno = EINVAL;
    return -1;
  }
  return shoal::training::Renamed(SYS_renameat2, from_folder, from, to_folder, to, flags);
}
int mkdir(const char* path, mode_t mode) noexcept {
  return shoal::training::WithRoom<int>(SYS_mkdir, path, mode);
}
int remove(const char* path) noexcept {
  if (!shoal::training::removes) {
    errno = ENOSPC;
    return -1;
  }
  const int removed = ::unlink(path);
  return removed == 0 || errno != EISDIR ? removed : ::rmdir(path);
}
int unlink(const char* path) noexcept { return shoal::training::Counted<int>(SYS_unlink, path); }
int unlinkat(int folder, const char* path, int flags) noexcept {
  return shoal::training::Counted<int>(SYS_unlinkat, folder, path, flags);
}
}

namespace shoal::training {
namespace {

// Kills ranks at every call while they save, and requires that a checkpoint can be loaded then,
// also where a folder is lost besides.
void RequireLoadableAfterEachCall(std::size_t ranks, std::int64_t before, std::int64_t number) {
  bool ended = false;
  for (int call = 1; !ended; ++call) {
    INFO(ranks << " ranks, killed at call " << call);
    REQUIRE(call < 1000);
    const Machines machines;
    Save(machines, OneEach(ranks), 1);
    Save(machines, OneEach(ranks), before);
    ended = SavesBeforeCall(machines, ranks, number, call);
    const Found found = Load(machines, OneEach(ranks));
    INFO(found.status);
    REQUIRE(found.status.ok());
    REQUIRE((found.checkpoint == StateOf(before) || found.checkpoint == StateOf(number)));
    if (ended) REQUIRE(found.checkpoint == StateOf(number));
    if (ranks == 1) continue;
    machines.Lose(static_cast<std::size_t>(call) % ranks);
    const Found rest = Load(machines, OneEach(ranks));
    INFO(rest.status);
    REQUIRE(rest.status.ok());
    REQUIRE((rest.checkpoint == StateOf(before) || rest.checkpoint == StateOf(number) ||
             rest.checkpoint == StateOf(1)));
  }
}

TEST_CASE("ranks that are killed at any call to the disk leave a checkpoint that can be loaded") {
  const std::size_t ranks = GENERATE(1, 2, 3);
  RequireLoadableAfterEachCall(ranks, 2, 3);
}

TEST_CASE("so does one that is killed while it writes a large file past the page cache") {
  const auto state = [](std::int64_t number) {
    Checkpoint checkpoint = StateOf(number);
    FileContent& file = checkpoint.files["parameters.safetensors"];
    file = std::string(9 << 20, static_cast<char>('a' + number));
    file.Append(StateOf(number).files["optimiser.safetensors"], 0, 57);
    return checkpoint;
  };
  bool ended = false;
  for (int call = 1; !ended; ++call) {
    INFO("killed at call " << call);
    REQUIRE(call < 1000);
    const Machines machines;
    REQUIRE(WriteCheckpoint(machines.Of(0), state(1), 3).ok());
    ended = EndsBeforeCall(call, [&] { return WriteCheckpoint(machines.Of(0), state(2), 3).ok(); });
    const auto found = ReadNewestCheckpoint(machines.Of(0));
    INFO(found.status());
    REQUIRE(found.ok());
    const bool whole = *found == state(ended ? 2 : 1) || *found == state(2);
    REQUIRE(whole);
  }
}

TEST_CASE("so do ranks that are killed while they write a checkpoint again") {
  const std::size_t ranks = GENERATE(1, 2);
  exchanges = GENERATE(true, false);
  RequireLoadableAfterEachCall(ranks, 2, 2);
  exchanges = true;
}

// Fills the disk at every call while ranks save `number` after `before`, for that call or for good,
// and requires that what they then believe to be saved is what a group that starts would load.
void RequireTruthOnFullDisk(std::size_t ranks, std::int64_t before, std::int64_t number) {
  bool was_full = true;
  for (int call = 1; was_full; ++call) {
    INFO(ranks << " ranks, full at call " << call << (stays_full ? " for good" : ""));
    REQUIRE(call < 1000);
    const Machines machines;
    Save(machines, OneEach(ranks), 1);
    Save(machines, OneEach(ranks), before);
    refused = 0;
    calls = 0;
    full_at_call = call;
    const auto ends = doubles::TryRanks(ranks, [&](std::size_t rank, GradientReducer& reducer) {
      return SaveOnRank(machines.Of(rank), reducer, number);
    });
    full_at_call = 0;
    was_full = refused.load() > 0;
    const Found found = Load(machines, OneEach(ranks));
    INFO(found.status << ", saving ended with " << ends[0]);
    REQUIRE(found.status.ok());
    for (const absl::Status& end : ends) REQUIRE(end.ok() == ends[0].ok());
    REQUIRE(found.checkpoint == StateOf(ends[0].ok() ? number : before));
    if (!was_full) REQUIRE(ends[0].ok());
    Save(machines, OneEach(ranks), number + 1);
    REQUIRE(Load(machines, OneEach(ranks)).checkpoint == StateOf(number + 1));
  }
}

TEST_CASE("a checkpoint that a full disk kept from being saved is not the one that is loaded") {
  const std::size_t ranks = GENERATE(1, 2, 3);
  stays_full = GENERATE(false, true);
  RequireTruthOnFullDisk(ranks, 2, 3);
  stays_full = false;
}

TEST_CASE("one that is written again while the disk is full stays what it was, or becomes new") {
  const std::size_t ranks = GENERATE(1, 2);
  exchanges = GENERATE(true, false);
  RequireTruthOnFullDisk(ranks, 2, 2);
  exchanges = true;
}

TEST_CASE("where a full disk lets nothing be removed, what still counts is no matter of room") {
  const std::size_t ranks = GENERATE(1, 2);
  bool counted = false;
  bool was_full = true;
  for (int call = 1; was_full; ++call) {
    INFO(ranks << " ranks, full at call " << call);
    REQUIRE(call < 1000);
    const Machines machines;
    Save(machines, OneEach(ranks), 1);
    refused = 0;
    calls = 0;
    full_at_call = call;
    removes = false;
    const auto ends = doubles::TryRanks(ranks, [&](std::size_t rank, GradientReducer& reducer) {
      return SaveOnRank(machines.Of(rank), reducer, 2);
    });
    removes = true;
    full_at_call = 0;
    was_full = refused.load() > 0;
    const bool counts = Load(machines, OneEach(ranks)).checkpoint == StateOf(2);
    for (const absl::Status& end : ends) {
      INFO(end);
      if (counts) REQUIRE_FALSE(absl::IsResourceExhausted(end));
      counted = counted || (counts && absl::IsInternal(end));
    }
  }
  REQUIRE(counted);
}

TEST_CASE("a checkpoint stays although neither the new one nor the old one can take its place") {
  const Machines machines;
  Save(machines, OneEach(1), 1);
  Save(machines, OneEach(1), 2);
  collectives::SingleRank alone;
  exchanges = false;
  no_way_to = machines.Of(0) + "/checkpoint-000000000002";
  const absl::Status end = SaveOnRank(machines.Of(0), alone, 2);
  no_way_to.clear();
  exchanges = true;
  INFO(end);
  REQUIRE(absl::IsInternal(end));
  REQUIRE(Load(machines, OneEach(1)).checkpoint == StateOf(2));
  REQUIRE(CheckpointFolder(machines.Of(0)).Begin(3).ok());
  REQUIRE(Load(machines, OneEach(1)).checkpoint == StateOf(2));
}

TEST_CASE("a rank whose disk is full is named on all ranks, which may try again") {
  const Machines machines;
  Save(machines, OneEach(2), 1);
  std::optional<doubles::FullDisk> full(machines.Of(1));
  const auto ends = doubles::TryRanks(2, [&](std::size_t rank, GradientReducer& reducer) {
    return SaveOnRank(machines.Of(rank), reducer, 2);
  });
  REQUIRE(full->refused() > 0);
  full.reset();
  for (const absl::Status& end : ends) {
    INFO(end);
    REQUIRE(absl::IsResourceExhausted(end));
    REQUIRE(doubles::Mentions(end, "a checkpoint of rank 1: " + machines.Of(1) + " has room for"));
  }
  REQUIRE(Load(machines, OneEach(2)).checkpoint == StateOf(1));
  Save(machines, OneEach(2), 3);
  REQUIRE(Load(machines, OneEach(2)).checkpoint == StateOf(3));
}

TEST_CASE("a checkpoint counts although LATEST cannot be written") {
  const Machines machines;
  fs::create_directories(machines.Of(0) + "/LATEST.tmp-" + std::to_string(::getpid()));
  REQUIRE(WriteCheckpoint(machines.Of(0), StateOf(1), 3).ok());
  REQUIRE(ReadNewestCheckpoint(machines.Of(0)).value() == StateOf(1));
}

TEST_CASE("who begins a checkpoint goes on while the disk takes its time") {
  const Machines machines;
  collectives::SingleRank alone;
  const auto shared = SharedCheckpoints::Create({.root = machines.Of(0)}, alone).value();
  held = true;
  Checkpoint state = StateOf(1);
  shared->Begin([&state] { return [state] { return state; }; });
  // What it goes on to change is not what was to be saved.
  state.files.clear();
  const bool written = shared->written();
  held = false;
  REQUIRE_FALSE(written);
  REQUIRE(shared->under_way());
  REQUIRE(shared->Settle().ok());
  REQUIRE(shared->written());
  REQUIRE(ReadNewestCheckpoint(machines.Of(0)).value() == StateOf(1));
}

}  // namespace
}  // namespace shoal::training
