// SPDX-License-Identifier: Apache-2.0
#include "rl/model/torch_device.h"

#include <ATen/Context.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <c10/util/accumulate.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <utility>

#include "rl/model/compute_devices.h"
#include "rl/model/device_names.h"
#include "rl/model/frame_kernels.h"

namespace shoal::model {
namespace {

// The types of torch need aligned addresses, and kernels read fastest from such.
constexpr std::size_t kAlignment = 64;
constexpr std::size_t kLeastCapacity = std::size_t{64} << 10;

std::size_t Aligned(std::size_t offset) {
  return (offset + kAlignment - 1) / kAlignment * kAlignment;
}

template <typename T>
at::Tensor Borrowed(std::span<const T> values, at::ScalarType type) {
  // The data is only read; from_blob has no const form.
  return at::from_blob(const_cast<T*>(values.data()), {static_cast<std::int64_t>(values.size())},
                       type);
}

// Adds to the reason why a library cannot be loaded how to get it. libcuda.so.1 is the driver's.
std::string WayOut(const std::string& error) {
  if (error.starts_with("libcuda.so")) return error;
  return error + "; in a clone, `deploy/install.sh cuda` fetches CUDA's libraries (5 GB)";
}

// Programs do not link libraries that exist only on machines with a GPU; loading this one is enough
// for torch to find CUDA. That has to happen before torch is first asked for CUDA, since it
// remembers the answer. `why` receives the reason where the library cannot be loaded.
std::int64_t CountGpus(std::string* why = nullptr) {
  static const std::string kError = [] {
    if (::dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_GLOBAL) != nullptr) return std::string();
    const char* const error = ::dlerror();
    return error == nullptr ? std::string("libtorch_cuda.so cannot be loaded") : WayOut(error);
  }();
  if (why != nullptr && !kError.empty()) *why = kError;
  return at::hasCUDA() ? static_cast<std::int64_t>(at::getNumGPUs()) : 0;
}

// Convolutions of float32 would otherwise round their factors to TF32's 11 significant bits. torch
// has one switch for the whole process, and reads it without a lock.
void KeepFloat32() {
  static std::once_flag once;
  std::call_once(once, [] { at::globalContext().setAllowTF32CuDNN(false); });
}

thread_local CopyCounts copies;

// Returns the GPU that `name` means to a process of this machine, or nothing for the CPU.
absl::StatusOr<std::optional<std::int64_t>> GpuOf(const std::string& name,
                                                  std::int64_t local_rank) {
  SHOAL_ASSIGN_OR_RETURN(const at::Device device, FindDevice(name));
  if (device.is_cpu()) return std::nullopt;
  return name.starts_with("cuda:") ? device.index() : local_rank % CountGpus();
}

}  // namespace

absl::StatusOr<at::Device> FindDevice(const std::string& name) {
  if (name == "cpu" || (name == "auto" && CountGpus() == 0)) return at::Device(at::kCPU);
  const bool numbered = name.starts_with("cuda:") && name.size() > 5 && name.size() < 8 &&
                        name.find_first_not_of("0123456789", 5) == std::string::npos;
  if (name != "cuda" && name != "auto" && !numbered) {
    return runtime::InvalidArgument("device '" + name + "' is none of auto, cpu, cuda, cuda:<n>");
  }
  std::string why = "no GPU is visible";
  const std::int64_t gpus = CountGpus(&why);
  if (gpus == 0) {
    return runtime::FailedPrecondition("device '" + name +
                                       "': there is no CUDA on this machine: " + why);
  }
  const at::Device device(numbered ? name : "cuda:0");
  if (device.index() >= gpus) {
    return runtime::FailedPrecondition("device '" + name + "': there are " + std::to_string(gpus) +
                                       " GPUs on this machine");
  }
  KeepFloat32();
  return device;
}

absl::StatusOr<ComputeDevice> FindComputeDevice(const std::string& name, std::int64_t local_rank) {
  SHOAL_ASSIGN_OR_RETURN(const std::optional<std::int64_t> gpu, GpuOf(name, local_rank));
  if (!gpu) return ComputeDevice{};
  return ComputeDevice{
      .name = "cuda:" + std::to_string(*gpu), .whole_batches = true, .graphs = true};
}

absl::StatusOr<std::vector<ComputeDevice>> FindComputeDevices(const std::string& names,
                                                              std::int64_t local_rank) {
  std::vector<ComputeDevice> devices;
  if (names == kAllGpus) {
    // Where there is none, this says why.
    SHOAL_RETURN_IF_ERROR(FindDevice("cuda").status());
    const auto gpus = std::min(CountGpus(), static_cast<std::int64_t>(kMaxComputeDevices));
    for (std::int64_t gpu = 0; gpu < gpus; ++gpu) {
      SHOAL_ASSIGN_OR_RETURN(devices.emplace_back(),
                             FindComputeDevice("cuda:" + std::to_string(gpu)));
    }
    return devices;
  }
  const std::vector<std::string> list = DeviceNames(names);
  if (list.size() == 1) {
    SHOAL_ASSIGN_OR_RETURN(devices.emplace_back(), FindComputeDevice(names, local_rank));
    return devices;
  }
  for (const std::string& name : list) {
    if (name != "cpu" && !name.starts_with("cuda:")) {
      return runtime::InvalidArgument("in the list '" + names + "', '" + name +
                                      "' is none of cpu, cuda:<n>");
    }
    if (devices.size() == kMaxComputeDevices) {
      return runtime::InvalidArgument("a list of devices has at most " +
                                      std::to_string(kMaxComputeDevices) + " entries");
    }
    SHOAL_ASSIGN_OR_RETURN(devices.emplace_back(), FindComputeDevice(name));
  }
  return devices;
}

absl::StatusOr<std::int64_t> FindGpu(const std::string& name, std::int64_t local_rank) {
  SHOAL_ASSIGN_OR_RETURN(const std::optional<std::int64_t> gpu, GpuOf(name, local_rank));
  if (gpu) return *gpu;
  return runtime::FailedPrecondition("device '" + name + "' is the CPU, and a GPU is needed");
}

absl::StatusOr<Precision> PrecisionNamed(const std::string& name) {
  if (name == "float32") return Precision::kFloat32;
  if (name == "bfloat16") return Precision::kBfloat16;
  return runtime::InvalidArgument("'" + name + "' is none of float32, bfloat16");
}

absl::StatusOr<ComputeDevice> WithPrecision(ComputeDevice device, const std::string& precision,
                                            const PolicySpec& spec) {
  SHOAL_ASSIGN_OR_RETURN(device.precision, PrecisionNamed(precision));
  if (device.precision == Precision::kFloat32) return device;
  if (spec.convolution != "impala") {
    return runtime::InvalidArgument("bfloat16 is for policy.convolution impala, not for " +
                                    spec.convolution);
  }
  SHOAL_ASSIGN_OR_RETURN(const at::Device place, FindDevice(device.name));
  if (place.is_cpu()) {
    return runtime::FailedPrecondition("bfloat16 needs a GPU, and the policy computes on the CPU");
  }
  // torch answers for the current device.
  const c10::DeviceGuard on_device(place);
  if (!at::detail::getCUDAHooks().supportsBFloat16ConvolutionWithCuDNNv8()) {
    return runtime::FailedPrecondition("bfloat16: device " + device.name +
                                       " has no convolution in it; a GPU of NVIDIA has it from "
                                       "compute capability 8.0");
  }
  SHOAL_RETURN_IF_ERROR(PrepareFrameKernels(place));
  return device;
}

std::vector<at::Tensor> CopyUp(const std::vector<at::Tensor>& tensors, at::Device device) {
  std::vector<at::Tensor> sources;
  std::vector<std::size_t> offsets;
  std::size_t size = 0;
  for (const at::Tensor& tensor : tensors) {
    sources.push_back(tensor.defined() ? tensor.detach().contiguous() : tensor);
    offsets.push_back(Aligned(size));
    if (tensor.defined()) size = offsets.back() + sources.back().nbytes();
  }
  const at::Tensor host = at::empty({static_cast<std::int64_t>(size)},
                                    at::TensorOptions(at::kByte).pinned_memory(device.is_cuda()));
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (!sources[i].defined() || sources[i].nbytes() == 0) continue;
    std::memcpy(host.mutable_data_ptr<std::uint8_t>() + offsets[i], sources[i].const_data_ptr(),
                sources[i].nbytes());
  }
  const at::Tensor sent = host.to(device, /*non_blocking=*/device.is_cuda());
  if (size > 0) ++copies.up;
  std::vector<at::Tensor> out;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const at::Tensor& source = sources[i];
    if (!source.defined()) {
      out.emplace_back();
    } else if (source.nbytes() == 0) {
      out.push_back(at::empty(source.sizes(), source.options().device(device)));
    } else {
      out.push_back(sent.narrow(0, static_cast<std::int64_t>(offsets[i]),
                                static_cast<std::int64_t>(source.nbytes()))
                        .view(source.scalar_type())
                        .view(source.sizes()));
    }
  }
  return out;
}

void MoveTogether(const std::vector<at::Tensor*>& tensors, at::Device device) {
  if (device.is_cpu()) {
    const auto has_bytes = [](const at::Tensor* tensor) {
      return tensor->defined() && tensor->nbytes() > 0;
    };
    if (std::any_of(tensors.begin(), tensors.end(), has_bytes)) ++copies.up;
    return;
  }
  std::vector<at::Tensor> sources;
  for (const at::Tensor* const tensor : tensors) sources.push_back(*tensor);
  std::vector<at::Tensor> moved = CopyUp(sources, device);
  for (std::size_t i = 0; i < tensors.size(); ++i) *tensors[i] = std::move(moved[i]);
}

at::Tensor CopyUp(std::span<const float> values, at::Device device) {
  return CopyUp(std::vector<at::Tensor>{Borrowed(values, at::kFloat)}, device).front();
}

at::Tensor CopyUp(std::span<const std::int64_t> values, at::Device device) {
  return CopyUp(std::vector<at::Tensor>{Borrowed(values, at::kLong)}, device).front();
}

std::optional<c10::Stream> StreamOn(at::Device device, bool high_priority) {
  if (device.is_cpu()) return std::nullopt;
  return c10::impl::VirtualGuardImpl(device.type()).getStreamFromGlobalPool(device, high_priority);
}

at::Tensor OnDevice(std::span<const float> values, at::Device device) {
  return Borrowed(values, at::kFloat).to(device, at::kFloat, /*non_blocking=*/false, /*copy=*/true);
}

std::vector<float> OnHost(const at::Tensor& tensor) {
  const at::Tensor host = tensor.detach().to(at::kCPU, at::kFloat).contiguous();
  const float* const begin = host.const_data_ptr<float>();
  return {begin, begin + host.numel()};
}

std::size_t DeviceBatch::Reserve(std::size_t bytes) {
  const std::size_t offset = Aligned(size_);
  const std::size_t needed = offset + bytes;
  const std::size_t held = host_.defined() ? static_cast<std::size_t>(host_.numel()) : 0;
  if (needed > held) {
    const auto capacity = static_cast<std::int64_t>(std::max({needed, 2 * held, kLeastCapacity}));
    const at::Tensor larger =
        at::empty({capacity}, at::TensorOptions(at::kByte).pinned_memory(device_.is_cuda()));
    if (size_ > 0) std::memcpy(larger.mutable_data_ptr(), host_.const_data_ptr(), size_);
    host_ = larger;
  }
  size_ = needed;
  return offset;
}

template <typename T>
DeviceBatch::Array DeviceBatch::Append(std::span<const T> values, std::int64_t padded,
                                       at::ScalarType type) {
  const std::size_t filled = values.size_bytes();
  const std::size_t bytes = std::max(filled, static_cast<std::size_t>(padded) * sizeof(T));
  const std::size_t offset = Reserve(bytes);
  if (bytes > 0) {
    std::uint8_t* const begin = host_.mutable_data_ptr<std::uint8_t>() + offset;
    if (filled > 0) std::memcpy(begin, values.data(), filled);
    std::memset(begin + filled, 0, bytes - filled);
  }
  lengths_.push_back(static_cast<std::int64_t>(bytes));
  return {.offset = offset, .bytes = bytes, .type = type};
}

DeviceBatch::Array DeviceBatch::Add(std::span<const float> values, std::int64_t padded) {
  return Append(values, padded, at::kFloat);
}
DeviceBatch::Array DeviceBatch::Add(std::span<const double> values, std::int64_t padded) {
  return Append(values, padded, at::kDouble);
}
DeviceBatch::Array DeviceBatch::Add(std::span<const std::int64_t> values, std::int64_t padded) {
  return Append(values, padded, at::kLong);
}
DeviceBatch::Array DeviceBatch::Add(std::span<const std::uint8_t> values, std::int64_t padded) {
  return Append(values, padded, at::kByte);
}
DeviceBatch::Array DeviceBatch::AddHalves(std::span<const std::uint16_t> values,
                                          std::int64_t padded) {
  return Append(values, padded, at::kHalf);
}

at::Tensor DeviceBatch::Filled() const { return host_.narrow(0, 0, size()); }

void DeviceBatch::Send() {
  if (size_ == 0 || sent_.defined()) return;
  sent_ = Filled().to(device_, /*non_blocking=*/device_.is_cuda());
  host_ = at::Tensor();
  ++copies.up;
}

void DeviceBatch::SendTo(const at::Tensor& target) {
  if (size_ > 0) target.narrow(0, 0, size()).copy_(Filled(), /*non_blocking=*/device_.is_cuda());
  sent_ = target;
  if (size_ == 0) return;
  host_ = at::Tensor();
  ++copies.up;
}

at::Tensor DeviceBatch::Get(const Array& array, at::IntArrayRef shape) const {
  if (array.bytes == 0) return at::empty(shape, at::TensorOptions(array.type).device(device_));
  return sent_
      .narrow(0, static_cast<std::int64_t>(array.offset), static_cast<std::int64_t>(array.bytes))
      .view(array.type)
      .view(shape);
}

void FrameUpload::Send(std::span<const std::uint8_t> bytes, std::int64_t rows) {
  const auto length = static_cast<std::int64_t>(bytes.size()) / rows;
  // The data is only read; from_blob has no const form.
  const at::Tensor host =
      at::from_blob(const_cast<std::uint8_t*>(bytes.data()), {rows, length}, at::kByte);
  const at::Tensor all = at::empty({rows, length}, at::TensorOptions(at::kByte).device(device_));
  if (copies_) {
    // What was queued before may still use the memory of `all`.
    c10::Event free(device_.type());
    free.record(c10::impl::VirtualGuardImpl(device_.type()).getStream(device_));
    free.block(*copies_);
  }
  const c10::OptionalStreamGuard on_stream(copies_);
  for (std::int64_t first = 0; first < rows; first += kSliceRows) {
    const std::int64_t count = std::min(kSliceRows, rows - first);
    at::Tensor slice = all.narrow(0, first, count);
    slice.copy_(host.narrow(0, first, count), /*non_blocking=*/copies_.has_value());
    ++copies.up;
    if (copies_) arrivals_.emplace_back(device_.type()).record(*copies_);
    slices_.push_back(std::move(slice));
  }
}

FrameUpload::~FrameUpload() {
  if (!copies_ || slices_.empty()) return;
  try {
    copies_->synchronize();
  } catch (const c10::Error&) {
    // A device that failed has told whoever waited for the slices.
  }
}

at::Tensor FrameUpload::Slice(std::size_t index) const {
  if (copies_) {
    arrivals_[index].block(c10::impl::VirtualGuardImpl(device_.type()).getStream(device_));
  }
  return slices_[index];
}

JoinedTensors Join(const std::vector<at::Tensor>& tensors) {
  JoinedTensors joined;
  std::vector<at::Tensor> bytes;
  for (const at::Tensor& tensor : tensors) {
    bytes.push_back(tensor.detach().contiguous().view({-1}).view(at::kByte));
    joined.parts.push_back({.type = tensor.scalar_type(), .shape = tensor.sizes().vec()});
  }
  joined.bytes = at::cat(bytes);
  return joined;
}

std::vector<at::Tensor> Split(const at::Tensor& bytes,
                              const std::vector<JoinedTensors::Part>& parts) {
  std::vector<at::Tensor> out;
  std::int64_t offset = 0;
  for (const JoinedTensors::Part& part : parts) {
    const auto length =
        c10::multiply_integers(part.shape) * static_cast<std::int64_t>(c10::elementSize(part.type));
    // A copy has an aligned address, whatever lies before it.
    const at::Tensor own = bytes.narrow(0, offset, length).clone();
    out.push_back(own.view(part.type).view(part.shape));
    offset += length;
  }
  return out;
}

void CopyDown(const at::Tensor& bytes, at::Tensor host) {
  host.copy_(bytes);
  if (bytes.numel() > 0) ++copies.down;
}

std::vector<at::Tensor> ToHost(const std::vector<at::Tensor>& tensors) {
  const JoinedTensors joined = Join(tensors);
  if (!joined.bytes.is_cuda()) {
    if (joined.bytes.numel() > 0) ++copies.down;
    return Split(joined.bytes, joined.parts);
  }
  const at::Tensor host =
      at::empty(joined.bytes.sizes(), at::TensorOptions(at::kByte).pinned_memory(true));
  CopyDown(joined.bytes, host);
  return Split(host, joined.parts);
}

const CopyCounts& Copies() { return copies; }

}  // namespace shoal::model
