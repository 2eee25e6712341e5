// SPDX-License-Identifier: Apache-2.0
#include "rl/parameters/difference.h"

#include <limits>
#include <span>
#include <vector>

#include "platform/runtime/unsigned_bits.h"
#include "platform/runtime/zstd_frame.h"
#include "rl/model/safetensors.h"

namespace shoal::parameters {
namespace {

using model::SafetensorsView;
using runtime::Load;
using runtime::Store;

// Higher levels of zstd take longer and make differences of trained policies no smaller.
constexpr int kLevel = 1;

enum class Direction { kToPlanes, kToValues };

template <typename T>
void ToPlanes(const char* base, const char* values, std::size_t count, char* planes) {
  constexpr int kTopBit = std::numeric_limits<T>::digits - 1;
  for (std::size_t i = 0; i < count; ++i) {
    const T before = base == nullptr ? T{0} : Load<T>(base + i * sizeof(T));
    const T difference = static_cast<T>(Load<T>(values + i * sizeof(T)) - before);
    const T sign = static_cast<T>(T{0} - static_cast<T>(difference >> kTopBit));
    const T zigzag = static_cast<T>(static_cast<T>(difference << 1) ^ sign);
    for (std::size_t byte = 0; byte < sizeof(T); ++byte) {
      planes[byte * count + i] = static_cast<char>(zigzag >> (8 * byte));
    }
  }
}

template <typename T>
void ToValues(const char* base, const char* planes, std::size_t count, char* values) {
  for (std::size_t i = 0; i < count; ++i) {
    T zigzag{0};
    for (std::size_t byte = 0; byte < sizeof(T); ++byte) {
      const T part = static_cast<unsigned char>(planes[byte * count + i]);
      zigzag = static_cast<T>(zigzag | static_cast<T>(part << (8 * byte)));
    }
    const T sign = static_cast<T>(T{0} - static_cast<T>(zigzag & 1));
    const T before = base == nullptr ? T{0} : Load<T>(base + i * sizeof(T));
    const T value = static_cast<T>(before + static_cast<T>(static_cast<T>(zigzag >> 1) ^ sign));
    Store<T>(value, values + i * sizeof(T));
  }
}

template <typename T>
void Convert(Direction direction, const char* base, std::span<const std::byte> from, char* to) {
  const char* const bytes = reinterpret_cast<const char*>(from.data());
  const std::size_t count = from.size() / sizeof(T);
  direction == Direction::kToPlanes ? ToPlanes<T>(base, bytes, count, to)
                                    : ToValues<T>(base, bytes, count, to);
}

// Returns null where the base has no such tensor.
const char* BaseOf(const SafetensorsView& base, const SafetensorsView::Entry& entry) {
  const SafetensorsView::Entry* const found = base.Find(entry.name);
  const bool same = found != nullptr && found->dtype == entry.dtype && found->shape == entry.shape;
  return same ? reinterpret_cast<const char*>(found->bytes.data()) : nullptr;
}

// Returns `file`, each of whose tensors holds values or planes, with the other one of them.
absl::StatusOr<std::string> Converted(Direction direction, std::string_view base,
                                      std::string_view file) {
  SHOAL_ASSIGN_OR_RETURN(const SafetensorsView base_view, SafetensorsView::Parse(base));
  SHOAL_ASSIGN_OR_RETURN(const SafetensorsView view, SafetensorsView::Parse(file));
  std::string out(file);
  for (const SafetensorsView::Entry& entry : view.entries()) {
    if (entry.bytes.empty()) continue;
    const char* const before = BaseOf(base_view, entry);
    char* const to = out.data() + (reinterpret_cast<const char*>(entry.bytes.data()) - file.data());
    runtime::VisitUnsigned(runtime::SizeOf(entry.dtype), [&](auto zero) {
      Convert<decltype(zero)>(direction, before, entry.bytes, to);
    });
  }
  return out;
}

absl::Status CheckSize(std::uint64_t base_bytes, std::uint64_t file_bytes) {
  if (file_bytes <= MostFileBytes(base_bytes)) return absl::OkStatus();
  return runtime::InvalidArgument("a difference from a file of " + std::to_string(base_bytes) +
                                  " bytes describes " + std::to_string(file_bytes) +
                                  " bytes, the limit is " +
                                  std::to_string(MostFileBytes(base_bytes)));
}

}  // namespace

absl::StatusOr<std::string> MakeDifference(std::string_view base, std::string_view file) {
  SHOAL_RETURN_IF_ERROR(CheckSize(base.size(), file.size()));
  SHOAL_ASSIGN_OR_RETURN(const std::string planes, Converted(Direction::kToPlanes, base, file));
  return runtime::PackFrame(planes, kLevel);
}

absl::StatusOr<std::string> ApplyDifference(std::string_view base, std::string_view difference,
                                            std::uint64_t file_bytes) {
  SHOAL_RETURN_IF_ERROR(CheckSize(base.size(), file_bytes));
  SHOAL_ASSIGN_OR_RETURN(const std::string planes, runtime::UnpackFrame(difference, file_bytes));
  return Converted(Direction::kToValues, base, planes);
}

}  // namespace shoal::parameters
