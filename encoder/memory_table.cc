// SPDX-License-Identifier: Apache-2.0
#include "encoder/memory_table.h"

#include <absl/strings/str_format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "text/language/gpt2_layout.h"

namespace shoal::encoder {
namespace {

using language::TrainerMemory;
using language::TrainerOptions;

double Gibibytes(std::int64_t bytes) {
  return static_cast<double>(bytes) / static_cast<double>(std::int64_t{1} << 30);
}

// What takes the most, and what makes it smaller.
std::string Largest(const TrainerMemory& memory) {
  struct Item {
    std::int64_t bytes;
    const char* purpose;
    const char* remedy;
  };
  const std::array<Item, 4> items = {{
      {memory.parameter_bytes, "parameters take", "--zero-stage 3 or --tensor-parallel divides"},
      {memory.gradient_bytes, "gradients take", "fewer --threads or --zero-stage 3 reduces"},
      {memory.moment_bytes, "the optimiser's moments take",
       "--zero-stage 1 or more ranks divide and --optimiser lion or sgd halves"},
      {memory.activation_bytes, "activations take",
       "--checkpoint-blocks or a smaller --slice-tokens reduces"},
  }};
  const Item& largest = *std::max_element(
      items.begin(), items.end(), [](const Item& a, const Item& b) { return a.bytes < b.bytes; });
  return absl::StrFormat("%s the most, %.2f GiB, which %s", largest.purpose,
                         Gibibytes(largest.bytes), largest.remedy);
}

std::string FlagsOf(const TrainerOptions& options) {
  return absl::StrFormat("--zero-stage %d%s", static_cast<int>(options.zero_stage),
                         options.checkpoint_blocks ? " --checkpoint-blocks" : "");
}

}  // namespace

MemoryTable TabulateMemory(const language::Gpt2Config& config, const TrainerOptions& options,
                           const language::TrainerPlaces& places, std::int64_t bytes) {
  const auto of = [&](const TrainerOptions& way) {
    return language::EstimateTrainerMemory(config, way, places);
  };
  const TrainerMemory asked = of(options);
  MemoryTable table{
      .text = absl::StrFormat(
          "%.1f M parameters, ranks %d, of which %d divide the blocks; GiB of a rank\n"
          "zero stage  checkpointed  parameters  gradients  moments  activations    total  fits\n",
          static_cast<double>(asked.parameters) / 1e6, places.ranks, options.tensor_parallel),
      .fits = asked.device_bytes() <= bytes};
  std::optional<TrainerOptions> first;
  for (int stage = 0; stage <= 3; ++stage) {
    for (const bool checkpointed : {false, true}) {
      TrainerOptions way = options;
      way.zero_stage = static_cast<training::ZeroStage>(stage);
      way.checkpoint_blocks = checkpointed;
      // Stage 3 computes blocks again in any case.
      if (stage == 3 && !checkpointed) continue;
      if (!way.ValidateFor(config, places.ranks).ok()) continue;
      const TrainerMemory memory = of(way);
      const bool fits = memory.device_bytes() <= bytes;
      if (fits && !first) first = way;
      absl::StrAppendFormat(&table.text, "%10d  %12s  %10.2f  %9.2f  %7.2f  %11.2f  %7.2f  %4s\n",
                            stage, checkpointed ? "yes" : "no", Gibibytes(memory.parameter_bytes),
                            Gibibytes(memory.gradient_bytes), Gibibytes(memory.moment_bytes),
                            Gibibytes(memory.activation_bytes), Gibibytes(memory.device_bytes()),
                            fits ? "yes" : "no");
    }
  }
  absl::StrAppendFormat(&table.text, "%s %s: %.2f of %.2f GiB; %s.\n", FlagsOf(options),
                        table.fits ? "fits" : "does not fit", Gibibytes(asked.device_bytes()),
                        Gibibytes(bytes), Largest(asked));
  if (!table.fits) {
    table.text += first ? "The first that fits is " + FlagsOf(*first) + ".\n"
                        : "None fits: more ranks, or more memory for each.\n";
  }
  return table;
}

}  // namespace shoal::encoder
