// SPDX-License-Identifier: Apache-2.0
// What the processes of a cluster take of memory, as far as their configuration says, and whether
// that fits.
//
// Values; pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace shoal::cli {

struct MemoryItem {
  // The kind of process, as in "learner", and how many of that kind there are.
  std::string process;
  std::int64_t processes = 1;
  // What the memory is for, as in "optimiser".
  std::string purpose;
  // The bytes in each process.
  std::int64_t bytes = 0;
  // Whether `bytes` is a limit that a process reaches only when it has that much to keep.
  bool limit = false;
  // Whether it lies where the learner updates.
  bool on_device = false;
  // What makes it smaller.
  std::string remedy;

  std::int64_t total() const { return bytes * processes; }
};

struct MemoryPlan {
  // The numbers of the network, and those of them that are trained.
  std::int64_t parameters = 0;
  std::int64_t trained = 0;
  std::vector<MemoryItem> items;
};

struct MemoryPlaces {
  std::int64_t host_bytes = 0;
  // The memory of one device, where each process that updates has one of its own. Without it, they
  // use the host's.
  std::optional<std::int64_t> device_bytes;
};

enum class Fit : std::uint8_t {
  kFits,
  // It fits as long as what has a limit does not reach it.
  kFitsUnlessFull,
  kDoesNotFit,
};

struct MemoryVerdict {
  Fit fit = Fit::kFits;
  // What the host holds for certain, and with every limit reached.
  std::int64_t host_certain = 0;
  std::int64_t host_most = 0;
  // What the device of rank 0 holds, which is the fullest; 0 without devices.
  std::int64_t device = 0;
  // The position in MemoryPlan::items of what takes the most of what is too small, or the most at
  // all where everything fits; -1 without items.
  std::int64_t largest = -1;
};

MemoryVerdict Judge(const MemoryPlan& plan, const MemoryPlaces& places);

// A table with a line for each item, the sums, the largest item and the verdict.
std::string ToText(const MemoryPlan& plan, const MemoryPlaces& places);
// The same as a JSON object, sizes in bytes.
std::string ToJson(const MemoryPlan& plan, const MemoryPlaces& places);

}  // namespace shoal::cli
