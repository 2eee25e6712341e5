// SPDX-License-Identifier: Apache-2.0
#include "rl/model/frame_kernels.h"

#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/max_pool2d.h>
#include <ATen/ops/relu.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <dlfcn.h>

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "platform/runtime/mutex.h"
#include "rl/model/torch_guard.h"

namespace shoal::model {
namespace {

// Numbers are read and written as eight bfloat16 of neighbouring channels, except by `widen`. `c8`
// is the number of such groups of channels in a place, `total` the number of results. As in torch's
// operations, what is no number stays none.
constexpr const char* kSource = R"cuda(
extern "C" {
typedef unsigned int u32;
__device__ __forceinline__ u32 rounded(float value) {
  const u32 bits = __float_as_uint(value);
  return (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
}
__device__ __forceinline__ u32 pair(float low, float high) {
  return rounded(low) | (rounded(high) << 16);
}
__device__ __forceinline__ void unpack(uint4 v, float* f) {
  const u32 pairs[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    f[2 * k] = __uint_as_float(pairs[k] << 16);
    f[2 * k + 1] = __uint_as_float(pairs[k] & 0xffff0000u);
  }
}
__device__ __forceinline__ uint4 packed(const float* f) {
  return make_uint4(pair(f[0], f[1]), pair(f[2], f[3]), pair(f[4], f[5]), pair(f[6], f[7]));
}
__device__ __forceinline__ uint4 rectified(float* f) {
#pragma unroll
  for (int k = 0; k < 8; ++k) f[k] = f[k] > 0.0f || f[k] != f[k] ? f[k] : 0.0f;
  return packed(f);
}
// Where group `c` of a place lies in a map of h x w places.
__device__ __forceinline__ u32 place(u32 n, u32 y, u32 x, u32 c, u32 h, u32 w, u32 c8, u32 blocked) {
  if (!blocked) return ((n * h + y) * w + x) * c8 + c;
  const u32 square = (n * ((h + 1) / 2) + y / 2) * ((w + 1) / 2) + x / 2;
  return (square * 4 + (y % 2) * 2 + x % 2) * c8 + c;
}

// One result is a number: bytes [n, h, w, c] become squares of 2 x 2 places of `even` channels.
__global__ void widen(const unsigned char* bytes, unsigned short* out, u32 total, u32 h, u32 w,
                      u32 c, u32 even) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= total) return;
  const u32 channel = i % even;
  u32 rest = i / even;
  const u32 corner = rest % 4;
  rest /= 4;
  const u32 squares = (w + 1) / 2;
  const u32 x = rest % squares * 2 + corner % 2;
  rest /= squares;
  const u32 y = rest % ((h + 1) / 2) * 2 + corner / 2;
  const u32 n = rest / ((h + 1) / 2);
  const bool inside = channel < c && y < h && x < w;
  out[i] = inside ? (unsigned short)rounded((float)bytes[((n * h + y) * w + x) * c + channel]) : 0;
}

__global__ void pool(const uint4* in, const float* bias, uint4* sum, uint4* relu, u32 total, u32 h,
                     u32 w, u32 c8, u32 in_blocked, u32 out_blocked) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= total) return;
  const u32 oh = (h + 1) / 2;
  const u32 ow = (w + 1) / 2;
  const u32 c = i % c8;
  u32 rest = i / c8;
  const int ox = (int)(rest % ow);
  rest /= ow;
  const int oy = (int)(rest % oh);
  const u32 n = rest / oh;
  float best[8];
#pragma unroll
  for (int k = 0; k < 8; ++k) best[k] = __uint_as_float(0xff800000u);
  for (int y = 2 * oy - 1; y <= 2 * oy + 1; ++y) {
    if (y < 0 || y >= (int)h) continue;
    for (int x = 2 * ox - 1; x <= 2 * ox + 1; ++x) {
      if (x < 0 || x >= (int)w) continue;
      float f[8];
      unpack(in[place(n, (u32)y, (u32)x, c, h, w, c8, in_blocked)], f);
#pragma unroll
      for (int k = 0; k < 8; ++k) best[k] = f[k] > best[k] || f[k] != f[k] ? f[k] : best[k];
    }
  }
#pragma unroll
  for (int k = 0; k < 8; ++k) best[k] += bias[8 * c + k];
  const u32 to = place(n, (u32)oy, (u32)ox, c, oh, ow, c8, out_blocked);
  sum[to] = packed(best);
  relu[to] = rectified(best);
}

__global__ void add(uint4* sum, uint4* other, const float* bias, u32 total, u32 c8) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= total) return;
  const u32 c = i % c8;
  float a[8];
  float b[8];
  unpack(sum[i], a);
  unpack(other[i], b);
#pragma unroll
  for (int k = 0; k < 8; ++k) a[k] += b[k] + bias[8 * c + k];
  sum[i] = packed(a);
  other[i] = rectified(a);
}

__global__ void rectify(uint4* map, const float* bias, u32 total, u32 c8) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= total) return;
  const u32 c = i % c8;
  float a[8];
  unpack(map[i], a);
#pragma unroll
  for (int k = 0; k < 8; ++k) a[k] += bias[8 * c + k];
  map[i] = rectified(a);
}
}
)cuda";

constexpr std::int64_t kGroup = 8;
constexpr std::uint32_t kThreads = 256;

// The functions of NVIDIA's runtime compiler and of its runtime that are used here, as their
// manuals declare them. torch has loaded the runtime; programs link neither.
struct Cuda {
  struct Dimensions {
    std::uint32_t x = 1;
    std::uint32_t y = 1;
    std::uint32_t z = 1;
  };

  int (*create_program)(void** program, const char* source, const char* name, int headers,
                        const char* const* header_sources, const char* const* header_names);
  int (*compile_program)(void* program, int options, const char* const* option);
  int (*code_size)(void* program, std::size_t* size);
  int (*code)(void* program, char* code);
  int (*log_size)(void* program, std::size_t* size);
  int (*log)(void* program, char* log);
  int (*destroy_program)(void** program);
  int (*attribute)(int* value, int attribute, int device);
  int (*load_library)(void** library, const void* code, int* options, void** values,
                      unsigned option_count, int* library_options, void** library_values,
                      unsigned library_option_count);
  int (*kernel)(void** kernel, void* library, const char* name);
  int (*launch)(const void* kernel, Dimensions grid, Dimensions block, void** arguments,
                std::size_t shared_bytes, void* stream);
  const char* (*error)(int code);

  Cuda();
};

template <typename Function>
void Find(const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(RTLD_DEFAULT, name));
  TORCH_CHECK(function != nullptr, "CUDA has no function ", name);
}

Cuda::Cuda() {
  // It brings the runtime compiler along.
  TORCH_CHECK(::dlopen("libcaffe2_nvrtc.so", RTLD_NOW | RTLD_GLOBAL) != nullptr, ::dlerror());
  Find("nvrtcCreateProgram", create_program);
  Find("nvrtcCompileProgram", compile_program);
  Find("nvrtcGetCUBINSize", code_size);
  Find("nvrtcGetCUBIN", code);
  Find("nvrtcGetProgramLogSize", log_size);
  Find("nvrtcGetProgramLog", log);
  Find("nvrtcDestroyProgram", destroy_program);
  Find("cudaDeviceGetAttribute", attribute);
  Find("cudaLibraryLoadData", load_library);
  Find("cudaLibraryGetKernel", kernel);
  Find("cudaLaunchKernel", launch);
  Find("cudaGetErrorString", error);
}

const Cuda& TheCuda() {
  static const Cuda cuda;
  return cuda;
}

void Check(int code, const char* what) {
  TORCH_CHECK(code == 0, what, ": ", TheCuda().error(code));
}

// Returns the kernels in the code of a GPU.
std::string Compile(at::Device device) {
  constexpr int kMajor = 75;
  constexpr int kMinor = 76;
  const Cuda& cuda = TheCuda();
  int major = 0;
  int minor = 0;
  Check(cuda.attribute(&major, kMajor, device.index()), "compute capability");
  Check(cuda.attribute(&minor, kMinor, device.index()), "compute capability");
  const std::string target = "--gpu-architecture=sm_" + std::to_string(10 * major + minor);
  const char* const options[] = {target.c_str()};
  void* created = nullptr;
  TORCH_CHECK(cuda.create_program(&created, kSource, "frame_kernels", 0, nullptr, nullptr) == 0,
              "the compiler of kernels cannot begin");
  const auto destroy = [&cuda](void* program) { cuda.destroy_program(&program); };
  const std::unique_ptr<void, decltype(destroy)> program(created, destroy);
  std::size_t size = 0;
  if (cuda.compile_program(program.get(), 1, options) != 0) {
    cuda.log_size(program.get(), &size);
    std::string log(size, '\0');
    cuda.log(program.get(), log.data());
    TORCH_CHECK(false, "kernels do not compile for ", target, ": ", log.c_str());
  }
  TORCH_CHECK(cuda.code_size(program.get(), &size) == 0, "kernels have no code for ", target);
  std::string code(size, '\0');
  TORCH_CHECK(cuda.code(program.get(), code.data()) == 0, "kernels have no code for ", target);
  return code;
}

struct Kernels {
  explicit Kernels(at::Device device);

  const void* widen = nullptr;
  const void* pool = nullptr;
  const void* add = nullptr;
  const void* rectify = nullptr;
};

Kernels::Kernels(at::Device device) {
  const Cuda& cuda = TheCuda();
  const std::string code = Compile(device);
  void* library = nullptr;
  Check(cuda.load_library(&library, code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
        "kernels do not load");
  const auto find = [&](const char* name) {
    void* kernel = nullptr;
    Check(cuda.kernel(&kernel, library, name), name);
    return kernel;
  };
  widen = find("widen");
  pool = find("pool");
  add = find("add");
  rectify = find("rectify");
}

const Kernels& KernelsOn(at::Device device) {
  static runtime::Mutex mutex;
  static std::map<c10::DeviceIndex, Kernels> compiled;
  const runtime::MutexLock lock(mutex);
  const auto found = compiled.find(device.index());
  if (found != compiled.end()) return found->second;
  const c10::DeviceGuard on_device(device);
  return compiled.emplace(device.index(), Kernels(device)).first->second;
}

// Queues a kernel that makes `total` results. The arguments are pointers and u32.
template <typename... Arguments>
void Launch(const void* kernel, at::Device device, std::uint32_t total, Arguments... arguments) {
  const c10::DeviceGuard on_device(device);
  const c10::impl::VirtualGuardImpl streams(device.type());
  void* list[] = {&arguments...};
  Check(TheCuda().launch(kernel, {.x = (total + kThreads - 1) / kThreads}, {.x = kThreads}, list, 0,
                         streams.getStreamNativeHandle(streams.getStream(device))),
        "a kernel of frames");
}

// Throws where a number does not fit; sizes come from a spec, and so may be too large.
std::uint32_t Counted(std::int64_t number) {
  TORCH_CHECK(number <= std::numeric_limits<std::int32_t>::max(), "frames of ", number,
              " numbers are too many for one pass in bfloat16");
  return static_cast<std::uint32_t>(number);
}

std::uint32_t Groups(const FrameMap& map) { return Counted(map.shape.channels / kGroup); }

std::int64_t Halved(std::int64_t side) { return (side + 1) / 2; }

FrameMap EmptyMap(const at::TensorOptions& options, std::int64_t rows, const FrameShape& shape,
                  bool blocked) {
  const std::int64_t height = blocked ? Halved(shape.height) : shape.height;
  const std::int64_t width = blocked ? Halved(shape.width) : shape.width;
  const std::int64_t channels = (blocked ? 4 : 1) * shape.channels;
  Counted(rows * height * width * channels);
  return {.numbers = at::empty({rows, channels, height, width}, options.dtype(at::kBFloat16),
                               at::MemoryFormat::ChannelsLast),
          .shape = shape,
          .blocked = blocked};
}

// Returns [R, H, W, C], whose sides are even, as a blocked map's numbers, and the other way round.
at::Tensor ToSquares(const at::Tensor& places) {
  const std::int64_t rows = places.size(0);
  const std::int64_t height = places.size(1) / 2;
  const std::int64_t width = places.size(2) / 2;
  const std::int64_t channels = places.size(3);
  return places.view({rows, height, 2, width, 2, channels})
      .permute({0, 1, 3, 2, 4, 5})
      .reshape({rows, height, width, 4 * channels})
      .permute({0, 3, 1, 2});
}

at::Tensor FromSquares(const at::Tensor& squares) {
  const std::int64_t rows = squares.size(0);
  const std::int64_t height = squares.size(2);
  const std::int64_t width = squares.size(3);
  const std::int64_t channels = squares.size(1) / 4;
  return squares.permute({0, 2, 3, 1})
      .reshape({rows, height, width, 2, 2, channels})
      .permute({0, 1, 3, 2, 4, 5})
      .reshape({rows, 2 * height, 2 * width, channels});
}

// The bias of each of a map's channels [1, C or 4 C, 1, 1].
at::Tensor BiasOf(const FrameMap& map, const at::Tensor& bias) {
  return bias.repeat({map.blocked ? 4 : 1}).view({1, -1, 1, 1});
}

Rectified PooledOnCpu(const FrameMap& map, const at::Tensor& bias, bool blocked) {
  const FrameShape& shape = map.shape;
  const at::Tensor places =
      map.blocked ? FromSquares(map.numbers).narrow(1, 0, shape.height).narrow(2, 0, shape.width)
                  : map.numbers.permute({0, 2, 3, 1});
  const at::Tensor sum =
      at::max_pool2d(places.permute({0, 3, 1, 2}), /*kernel_size=*/3, /*stride=*/2, /*padding=*/1)
          .to(at::kFloat)
          .add_(bias.view({1, -1, 1, 1}))
          .to(at::kBFloat16);
  const at::Tensor out = blocked ? ToSquares(sum.permute({0, 2, 3, 1}).contiguous()) : sum;
  const FrameShape halved = {Halved(shape.height), Halved(shape.width), shape.channels};
  return {.sum = {.numbers = out, .shape = halved, .blocked = blocked},
          .rectified = {.numbers = at::relu(out), .shape = halved, .blocked = blocked}};
}

}  // namespace

absl::Status PrepareFrameKernels(at::Device device) {
  const absl::Status prepared = GuardTorch("bfloat16", [&] {
    KernelsOn(device);
    return absl::OkStatus();
  });
  if (prepared.ok()) return prepared;
  return runtime::FailedPrecondition(runtime::Message(prepared));
}

FrameMap Widened(const at::Tensor& bytes, const FrameShape& shape) {
  const std::int64_t rows = bytes.size(0);
  const FrameShape even = {shape.height, shape.width, shape.channels + shape.channels % 2};
  if (bytes.is_cpu()) {
    const at::Tensor padded = at::constant_pad_nd(
        bytes.view({rows, shape.height, shape.width, shape.channels}),
        {0, even.channels - shape.channels, 0, shape.width % 2, 0, shape.height % 2});
    return {.numbers = ToSquares(padded.to(at::kBFloat16)), .shape = even, .blocked = true};
  }
  FrameMap out = EmptyMap(bytes.options(), rows, even, /*blocked=*/true);
  const std::uint32_t total = Counted(out.numbers.numel());
  Launch(KernelsOn(bytes.device()).widen, bytes.device(), total, bytes.const_data_ptr(),
         out.numbers.mutable_data_ptr(), total, Counted(shape.height), Counted(shape.width),
         Counted(shape.channels), Counted(even.channels));
  return out;
}

Rectified Pooled(const FrameMap& map, const at::Tensor& bias, bool blocked) {
  if (map.numbers.is_cpu()) return PooledOnCpu(map, bias, blocked);
  const FrameShape shape = {Halved(map.shape.height), Halved(map.shape.width), map.shape.channels};
  const at::Tensor& in = map.numbers;
  Rectified out{.sum = EmptyMap(in.options(), in.size(0), shape, blocked), .rectified = {}};
  out.rectified = EmptyMap(in.options(), in.size(0), shape, blocked);
  const std::uint32_t total = Counted(out.sum.numbers.numel() / kGroup);
  Launch(KernelsOn(in.device()).pool, in.device(), total, in.const_data_ptr(),
         bias.const_data_ptr(), out.sum.numbers.mutable_data_ptr(),
         out.rectified.numbers.mutable_data_ptr(), total, Counted(map.shape.height),
         Counted(map.shape.width), Groups(map), Counted(map.blocked ? 1 : 0),
         Counted(blocked ? 1 : 0));
  return out;
}

void AddAndRectify(const FrameMap& sum, const FrameMap& other, const at::Tensor& bias) {
  if (sum.numbers.is_cpu()) {
    at::Tensor total = sum.numbers;
    at::Tensor rectified = other.numbers;
    total.copy_(total.to(at::kFloat).add(rectified).add(BiasOf(sum, bias)));
    rectified.copy_(at::relu(total));
    return;
  }
  const std::uint32_t total = Counted(sum.numbers.numel() / kGroup);
  Launch(KernelsOn(sum.numbers.device()).add, sum.numbers.device(), total,
         sum.numbers.mutable_data_ptr(), other.numbers.mutable_data_ptr(), bias.const_data_ptr(),
         total, Groups(sum));
}

void Rectify(const FrameMap& map, const at::Tensor& bias) {
  if (map.numbers.is_cpu()) {
    at::Tensor numbers = map.numbers;
    numbers.copy_(at::relu(numbers.to(at::kFloat).add(BiasOf(map, bias))));
    return;
  }
  const std::uint32_t total = Counted(map.numbers.numel() / kGroup);
  Launch(KernelsOn(map.numbers.device()).rectify, map.numbers.device(), total,
         map.numbers.mutable_data_ptr(), bias.const_data_ptr(), total, Groups(map));
}

}  // namespace shoal::model
