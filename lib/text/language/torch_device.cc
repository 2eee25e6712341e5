// SPDX-License-Identifier: Apache-2.0
#include "text/language/torch_device.h"

#include <ATen/Context.h>
#include <ATen/ops/from_blob.h>
#include <dlfcn.h>

#include <cstdint>

namespace shoal::language {

absl::StatusOr<at::Device> FindDevice(const std::string& name) {
  if (name == "cpu") return at::Device(at::kCPU);
  const bool numbered = name.starts_with("cuda:") && name.size() > 5 && name.size() < 8 &&
                        name.find_first_not_of("0123456789", 5) == std::string::npos;
  if (name != "cuda" && !numbered) {
    return runtime::InvalidArgument("device '" + name + "' is neither cpu nor cuda");
  }
  // Programs do not link libraries that exist only on machines with a GPU; loading this one is
  // enough for torch to find CUDA.
  if (!at::hasCUDA()) ::dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_GLOBAL);
  if (!at::hasCUDA() || at::getNumGPUs() == 0) {
    return runtime::FailedPrecondition("device '" + name + "': there is no CUDA on this machine");
  }
  return at::Device(name);
}

at::Tensor OnDevice(std::span<const float> values, at::Device device) {
  // The data is only read; from_blob has no const form.
  return at::from_blob(const_cast<float*>(values.data()),
                       {static_cast<std::int64_t>(values.size())}, at::kFloat)
      .clone()
      .to(device);
}

std::vector<float> OnHost(const at::Tensor& tensor) {
  const at::Tensor host = tensor.to(at::kCPU).contiguous();
  const float* const begin = host.data_ptr<float>();
  return {begin, begin + host.numel()};
}

}  // namespace shoal::language
