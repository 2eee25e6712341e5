// SPDX-License-Identifier: Apache-2.0
// The C++ side of huggingface_test.py: it reads models and token ids, and writes files.
//
//   gpt2_driver init <preset> <seed> <folder>            random parameters, large enough to matter
//   gpt2_driver copy <folder> <folder>                   read and written again
//   gpt2_driver logits <folder> <batch> <output>         batch: safetensors, ids and starts as I64
//   gpt2_driver generate <folder> <count> <id>...        greedy; prints the ids
#include <cstdio>
#include <cstring>
#include <string>

#include "platform/runtime/random.h"
#include "rl/model/policy.h"
#include "rl/model/safetensors_file.h"
#include "text/language/gpt2.h"
#include "text/language/gpt2_layout.h"

namespace shoal::language {
namespace {

constexpr int kThreads = 2;

absl::Status Init(const std::string& preset, const std::string& seed, const std::string& folder) {
  SHOAL_ASSIGN_OR_RETURN(const Gpt2Config config, Gpt2Config::Preset(preset));
  SHOAL_ASSIGN_OR_RETURN(Gpt2Parameters parameters, InitialGpt2(config, std::stoull(seed)));
  runtime::Random random(std::stoull(seed), 1);
  for (const auto& info : Gpt2Layout(config).parameters) {
    if (info.shape.size() != 1) continue;
    for (std::int64_t i = 0; i < info.size; ++i) {
      parameters.flat[static_cast<std::size_t>(info.offset + i)] +=
          static_cast<float>(0.1 * random.Normal());
    }
  }
  return WriteGpt2Folder(folder, config, parameters.flat);
}

absl::Status Copy(const std::string& from, const std::string& to) {
  SHOAL_ASSIGN_OR_RETURN(const Gpt2Parameters parameters, ReadGpt2Folder(from));
  return WriteGpt2Folder(to, parameters.config, parameters.flat);
}

absl::StatusOr<std::vector<std::int64_t>> Integers(const model::SafetensorsView& view,
                                                   const std::string& name) {
  const auto* entry = view.Find(name);
  if (entry == nullptr || entry->dtype != runtime::DType::kInt64) {
    return runtime::InvalidArgument(name + " is missing or not I64");
  }
  std::vector<std::int64_t> values(entry->bytes.size() / 8);
  std::memcpy(values.data(), entry->bytes.data(), entry->bytes.size());
  return values;
}

absl::Status Logits(const std::string& folder, const std::string& input,
                    const std::string& output) {
  SHOAL_ASSIGN_OR_RETURN(const auto file, model::SafetensorsFile::Open(input));
  SHOAL_ASSIGN_OR_RETURN(const auto ids, Integers(file.view(), "ids"));
  TokenBatch batch;
  batch.ids.assign(ids.begin(), ids.end());
  SHOAL_ASSIGN_OR_RETURN(batch.starts, Integers(file.view(), "starts"));
  SHOAL_ASSIGN_OR_RETURN(const auto model, Gpt2::Load(folder, {}));
  SHOAL_ASSIGN_OR_RETURN(const runtime::Tensor logits, model->Logits(batch));
  const std::vector<model::SafetensorsItem> items = {{"logits", logits}};
  return model::WriteSafetensorsFile(output, items, {});
}

absl::Status Generate(const std::string& folder, const std::string& count,
                      const std::vector<std::string>& prompt) {
  std::vector<std::int32_t> ids;
  for (const std::string& id : prompt) ids.push_back(std::stoi(id));
  SHOAL_ASSIGN_OR_RETURN(const auto model, Gpt2::Load(folder, {}));
  SHOAL_ASSIGN_OR_RETURN(const Generated generated,
                         model->Generate(ids, {.max_tokens = std::stoll(count)}));
  for (const std::int32_t id : generated.tokens) std::printf("%d ", static_cast<int>(id));
  std::printf("\n");
  return absl::OkStatus();
}

absl::Status Run(const std::vector<std::string>& arguments) {
  const std::string command = arguments.empty() ? "" : arguments[0];
  if (command == "init" && arguments.size() == 4) {
    return Init(arguments[1], arguments[2], arguments[3]);
  }
  if (command == "copy" && arguments.size() == 3) return Copy(arguments[1], arguments[2]);
  if (command == "logits" && arguments.size() == 4) {
    return Logits(arguments[1], arguments[2], arguments[3]);
  }
  if (command == "generate" && arguments.size() > 3) {
    return Generate(arguments[1], arguments[2], {arguments.begin() + 3, arguments.end()});
  }
  return runtime::InvalidArgument("usage: gpt2_driver init|copy|logits|generate ...");
}

}  // namespace
}  // namespace shoal::language

int main(int argc, char** argv) {
  shoal::model::SetTorchThreads(shoal::language::kThreads);
  const absl::Status status = shoal::language::Run({argv + 1, argv + argc});
  if (status.ok()) return 0;
  std::fprintf(stderr, "gpt2_driver: %s\n", shoal::runtime::Message(status).c_str());
  return 1;
}
