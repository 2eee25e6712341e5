// SPDX-License-Identifier: Apache-2.0
// A learner whose learning rate is a thousand times too high for three updates once the run's
// folder has a file `fault` that says "fast". It is learner/main.cc, linked so that calls of
// PolicyTrainer::ScaleRate come here first (ld's --wrap).
#include <filesystem>
#include <string>

#include "platform/runtime/atomic_file.h"
#include "rl/algorithms/policy_trainer.h"

namespace shoal::tests {
namespace {

constexpr double kTooHigh = 1000;
constexpr int kFaultyUpdates = 3;

// The cluster file of the command line is in the run's folder.
std::string FaultFile() {
  const std::string words = runtime::ReadFile("/proc/self/cmdline").value_or("");
  const std::string flag = std::string("--config") + '\0';
  const std::size_t at = words.find(flag);
  if (at == std::string::npos) return "";
  const std::filesystem::path config = words.c_str() + at + flag.size();
  return config.parent_path() / "fault";
}

bool IsFaulty() {
  static const std::string file = FaultFile();
  static int updates = 0;
  return updates < kFaultyUpdates && runtime::ReadFile(file).value_or("") == "fast" && ++updates;
}

}  // namespace
}  // namespace shoal::tests

// The linker's names of the member function, whose first argument is the object.
extern "C" {
void __real__ZN5shoal10algorithms13PolicyTrainer9ScaleRateEd(
    shoal::algorithms::PolicyTrainer* trainer, double factor);
void __wrap__ZN5shoal10algorithms13PolicyTrainer9ScaleRateEd(
    shoal::algorithms::PolicyTrainer* trainer, double factor) {
  __real__ZN5shoal10algorithms13PolicyTrainer9ScaleRateEd(
      trainer, shoal::tests::IsFaulty() ? factor * shoal::tests::kTooHigh : factor);
}
}
