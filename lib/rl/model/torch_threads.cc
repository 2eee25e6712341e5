// SPDX-License-Identifier: Apache-2.0
#include "rl/model/torch_threads.h"

#include <ATen/Parallel.h>

#include <mutex>

#include "rl/model/policy.h"

namespace shoal::model {
namespace {

std::once_flag once;

void Set(int threads) {
  at::set_num_threads(threads);
  at::set_num_interop_threads(1);
}

}  // namespace

void SetTorchThreads(int threads) { std::call_once(once, Set, threads); }

void SetTorchThreads(const runtime::RunOptions& run, std::int64_t torch_threads) {
  SetTorchThreads(run.deterministic ? 1 : static_cast<int>(torch_threads));
}

void ApplyTorchThreads() { std::call_once(once, Set, 1); }

}  // namespace shoal::model
