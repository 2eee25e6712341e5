// SPDX-License-Identifier: Apache-2.0
#include "rl/model/safetensors.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "platform/runtime/bfloat16.h"

namespace shoal::model {
namespace {

using nlohmann::json;
using runtime::DType;

constexpr std::uint64_t kMaxHeader = std::uint64_t{16} << 20;
constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kMaxRank = 16;
constexpr std::size_t kFileAlignment = 64;
constexpr std::string_view kMetadataName = "__metadata__";

constexpr std::array<std::pair<std::string_view, DType>, 9> kDTypes = {{
    {"F32", DType::kFloat32},
    {"F16", DType::kFloat16},
    {"BF16", DType::kBFloat16},
    {"F64", DType::kFloat64},
    {"I8", DType::kInt8},
    {"U8", DType::kUInt8},
    {"I32", DType::kInt32},
    {"I64", DType::kInt64},
    {"BOOL", DType::kBool},
}};

std::string NameOf(DType dtype) {
  for (const auto& [name, value] : kDTypes) {
    if (value == dtype) return std::string(name);
  }
  return "";
}

absl::Status Bad(const std::string& what) {
  return runtime::InvalidArgument("safetensors: " + what);
}

std::string Quoted(const std::string& name) { return "tensor '" + name.substr(0, 100) + "'"; }

// Parses the header. Any repeated key is an error; nlohmann alone would accept it silently.
absl::StatusOr<json> ParseHeader(std::string_view text) {
  std::vector<std::set<std::string>> keys;
  std::string repeated;
  const json::parser_callback_t watch = [&](int depth, json::parse_event_t event, json& value) {
    if (event == json::parse_event_t::key) {
      const auto level = static_cast<std::size_t>(depth);
      keys.resize(level + 1);
      if (!keys[level].insert(value.get<std::string>()).second) repeated = value.get<std::string>();
    } else if (event == json::parse_event_t::object_start) {
      keys.resize(static_cast<std::size_t>(depth) + 1);
    }
    return depth <= 3;
  };
  json header;
  try {
    header = json::parse(text.begin(), text.end(), watch);
  } catch (const json::parse_error& error) {
    const std::size_t offset = std::max<std::size_t>(error.byte, 1) - 1;
    return Bad("the header is no JSON at byte " + std::to_string(kLengthBytes + offset));
  } catch (const json::exception& error) {
    return Bad(std::string("the header is no JSON: ") + error.what());
  }
  if (!header.is_object()) return Bad("the header is no JSON object");
  if (!repeated.empty()) return Bad("key '" + repeated.substr(0, 100) + "' stands twice");
  return header;
}

absl::StatusOr<Metadata> ParseMetadata(const json& value) {
  if (!value.is_object()) return Bad("__metadata__ is no object");
  Metadata metadata;
  for (const auto& [key, text] : value.items()) {
    if (!text.is_string()) return Bad("__metadata__ holds something that is no text");
    metadata[key] = text.get<std::string>();
  }
  return metadata;
}

absl::StatusOr<runtime::Shape> ParseShape(const std::string& name, const json& value) {
  if (!value.is_array() || value.size() > kMaxRank) return Bad(Quoted(name) + ": bad shape");
  runtime::Shape shape;
  for (const json& dimension : value) {
    if (!dimension.is_number_unsigned() ||
        dimension.get<std::uint64_t>() > (std::uint64_t{1} << 40)) {
      return Bad(Quoted(name) + ": bad dimension");
    }
    shape.push_back(dimension.get<std::int64_t>());
  }
  return shape;
}

absl::StatusOr<SafetensorsView::Entry> ParseEntry(const std::string& name, const json& value,
                                                  std::span<const std::byte> data) {
  if (!value.is_object() || value.size() != 3 || !value.contains("dtype") ||
      !value.contains("shape") || !value.contains("data_offsets")) {
    return Bad(Quoted(name) + ": needs exactly dtype, shape and data_offsets");
  }
  SafetensorsView::Entry entry;
  entry.name = name;
  const json& dtype = value["dtype"];
  const auto known = std::find_if(kDTypes.begin(), kDTypes.end(), [&](const auto& pair) {
    return dtype.is_string() && dtype.get_ref<const std::string&>() == pair.first;
  });
  if (known == kDTypes.end()) return Bad(Quoted(name) + ": unknown dtype");
  entry.dtype = known->second;
  SHOAL_ASSIGN_OR_RETURN(entry.shape, ParseShape(name, value["shape"]));
  const auto count = runtime::CountElements(entry.shape);
  if (!count.ok()) return runtime::Annotate(count.status(), Quoted(name));
  const json& offsets = value["data_offsets"];
  if (!offsets.is_array() || offsets.size() != 2 || !offsets[0].is_number_unsigned() ||
      !offsets[1].is_number_unsigned()) {
    return Bad(Quoted(name) + ": bad data_offsets");
  }
  const auto begin = offsets[0].get<std::uint64_t>();
  const auto end = offsets[1].get<std::uint64_t>();
  if (begin > end) return Bad(Quoted(name) + ": data_offsets run backwards");
  if (end > data.size()) {
    return runtime::DataLoss("safetensors: the file ends before " + Quoted(name));
  }
  if (end - begin != static_cast<std::uint64_t>(*count) * runtime::SizeOf(entry.dtype)) {
    return Bad(Quoted(name) + ": byte count does not fit dtype and shape");
  }
  entry.bytes = data.subspan(begin, end - begin);
  return entry;
}

// Checks that the entries tile `data`, which begins at byte `start` of the file.
absl::Status CheckTiling(const std::vector<SafetensorsView::Entry>& entries,
                         std::span<const std::byte> data, std::size_t start) {
  std::vector<std::pair<std::size_t, std::size_t>> ranges;
  for (const auto& entry : entries) {
    const auto begin = static_cast<std::size_t>(entry.bytes.data() - data.data());
    ranges.emplace_back(begin, begin + entry.bytes.size());
  }
  std::sort(ranges.begin(), ranges.end());
  std::size_t at = 0;
  for (const auto& [begin, end] : ranges) {
    if (begin != at) {
      return Bad("tensors overlap or leave a gap at byte " + std::to_string(start + at));
    }
    at = end;
  }
  if (at != data.size())
    return Bad("bytes after the last tensor, at byte " + std::to_string(start + at));
  return absl::OkStatus();
}

// Applies `convert` to each T in `bytes`, which may be unaligned.
template <typename T, typename Convert>
void ConvertAll(std::span<const std::byte> bytes, std::span<float> out, Convert convert) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    out[i] = convert(value);
  }
}

absl::Status CheckEntry(const SafetensorsView::Entry* entry, std::string_view name,
                        std::span<const std::int64_t> shape) {
  const std::string label = Quoted(std::string(name));
  if (entry == nullptr) return Bad(label + " is missing");
  if (!std::equal(shape.begin(), shape.end(), entry->shape.begin(), entry->shape.end())) {
    return Bad(label + " has shape " + runtime::ToString(entry->shape) + " instead of " +
               runtime::ToString(shape));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<SafetensorsView> SafetensorsView::Parse(std::string_view file) {
  if (file.size() < kLengthBytes)
    return runtime::DataLoss("safetensors: shorter than its header length");
  std::uint64_t header_size = 0;
  std::memcpy(&header_size, file.data(), 8);
  if (header_size > kMaxHeader) return Bad("header of " + std::to_string(header_size) + " bytes");
  if (header_size > file.size() - 8) return runtime::DataLoss("safetensors: the header is cut off");
  SHOAL_ASSIGN_OR_RETURN(const json header, ParseHeader(file.substr(8, header_size)));
  const auto data = std::as_bytes(std::span(file).subspan(8 + header_size));
  SafetensorsView view;
  for (const auto& [name, value] : header.items()) {
    if (name == kMetadataName) {
      SHOAL_ASSIGN_OR_RETURN(view.metadata_, ParseMetadata(value));
      continue;
    }
    SHOAL_ASSIGN_OR_RETURN(Entry entry, ParseEntry(name, value, data));
    view.entries_.push_back(std::move(entry));
  }
  SHOAL_RETURN_IF_ERROR(CheckTiling(view.entries_, data, kLengthBytes + header_size));
  return view;
}

const SafetensorsView::Entry* SafetensorsView::Find(std::string_view name) const {
  for (const Entry& entry : entries_) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

absl::StatusOr<std::span<const std::byte>> SafetensorsView::FloatBytes(
    std::string_view name, std::span<const std::int64_t> shape) const {
  const Entry* entry = Find(name);
  SHOAL_RETURN_IF_ERROR(CheckEntry(entry, name, shape));
  if (entry->dtype != DType::kFloat32) return Bad(Quoted(std::string(name)) + " is not F32");
  return entry->bytes;
}

absl::StatusOr<std::vector<float>> SafetensorsView::Floats(
    std::string_view name, std::span<const std::int64_t> shape) const {
  SHOAL_ASSIGN_OR_RETURN(const std::span<const std::byte> bytes, FloatBytes(name, shape));
  std::vector<float> values(bytes.size() / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

absl::Status SafetensorsView::ReadFloats(std::string_view name, std::span<const std::int64_t> shape,
                                         std::span<float> out) const {
  const Entry* entry = Find(name);
  SHOAL_RETURN_IF_ERROR(CheckEntry(entry, name, shape));
  SHOAL_CHECK(entry->bytes.size() == out.size() * runtime::SizeOf(entry->dtype));
  switch (entry->dtype) {
    case DType::kFloat32:
      if (!out.empty()) std::memcpy(out.data(), entry->bytes.data(), entry->bytes.size());
      return absl::OkStatus();
    case DType::kFloat16:
      ConvertAll<std::uint16_t>(entry->bytes, out, runtime::FromHalf);
      return absl::OkStatus();
    case DType::kBFloat16:
      ConvertAll<std::uint16_t>(entry->bytes, out, runtime::FromBFloat16);
      return absl::OkStatus();
    case DType::kFloat64:
      ConvertAll<double>(entry->bytes, out, [](double x) { return static_cast<float>(x); });
      return absl::OkStatus();
    default:
      return Bad(Quoted(std::string(name)) + " holds no floating-point numbers");
  }
}

std::string WriteSafetensorsHeader(std::span<const SafetensorsItem> items,
                                   const Metadata& metadata) {
  std::vector<SafetensorsSlot> slots;
  for (const SafetensorsItem& item : items) {
    const runtime::TensorView& tensor = item.tensor;
    const auto count = runtime::CountElements(tensor.shape);
    SHOAL_CHECK(count.ok() && static_cast<std::size_t>(*count) * runtime::SizeOf(tensor.dtype) ==
                                  tensor.bytes.size());
    slots.push_back({item.name, tensor.dtype, {tensor.shape.begin(), tensor.shape.end()}});
  }
  return WriteSafetensorsHeader(slots, metadata);
}

std::string WriteSafetensorsHeader(std::span<const SafetensorsSlot> slots,
                                   const Metadata& metadata) {
  json header = json::object();
  if (!metadata.empty()) header[std::string(kMetadataName)] = metadata;
  std::size_t offset = 0;
  for (const SafetensorsSlot& slot : slots) {
    const auto count = runtime::CountElements(slot.shape);
    SHOAL_CHECK(count.ok() && !header.contains(slot.name));
    const std::size_t size = static_cast<std::size_t>(*count) * runtime::SizeOf(slot.dtype);
    header[slot.name] = {{"dtype", NameOf(slot.dtype)},
                         {"shape", slot.shape},
                         {"data_offsets", {offset, offset + size}}};
    offset += size;
  }
  std::string text = header.dump();
  text.resize((kLengthBytes + text.size() + kFileAlignment - 1) / kFileAlignment * kFileAlignment -
                  kLengthBytes,
              ' ');
  const std::uint64_t size = text.size();
  std::string bytes(kLengthBytes, '\0');
  std::memcpy(bytes.data(), &size, kLengthBytes);
  return bytes + text;
}

std::string WriteSafetensors(std::span<const SafetensorsItem> items, const Metadata& metadata) {
  std::string file = WriteSafetensorsHeader(items, metadata);
  std::size_t size = file.size();
  for (const SafetensorsItem& item : items) size += item.tensor.bytes.size();
  file.reserve(size);
  for (const SafetensorsItem& item : items) {
    file.append(reinterpret_cast<const char*>(item.tensor.bytes.data()), item.tensor.bytes.size());
  }
  return file;
}

}  // namespace shoal::model
