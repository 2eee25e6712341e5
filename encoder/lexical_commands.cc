// SPDX-License-Identifier: Apache-2.0
#include "encoder/lexical_commands.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iomanip>
#include <memory>
#include <numeric>
#include <ostream>
#include <span>
#include <string_view>

#include "platform/runtime/atomic_file.h"
#include "platform/runtime/tensor.h"
#include "redfish/capture/capture.h"
#include "redfish/catalog/catalog.h"
#include "redfish/schema/schema.h"
#include "text/lexical/idf_table.h"
#include "text/lexical/lexical_encoder.h"
#include "text/lexical/lexical_features.h"
#include "text/lexical/text_parts.h"

namespace shoal::encoder {
namespace {

using tokens::LexicalEncoder;

absl::StatusOr<std::shared_ptr<const redfish::Catalog>> CatalogOf(const std::string& capture_path,
                                                                  const redfish::Schema& schema) {
  SHOAL_ASSIGN_OR_RETURN(const auto capture, redfish::Capture::Load(capture_path));
  return redfish::Catalog::Build(*capture, schema);
}

std::vector<std::uint64_t> FeatureHashes(std::string_view text) {
  std::vector<std::uint64_t> hashes;
  for (const tokens::Part& part : tokens::SplitIntoParts(text, LexicalEncoder::kMaxWords)) {
    for (const tokens::Feature& feature : tokens::LexicalFeatures(part)) {
      hashes.push_back(feature.hash);
    }
  }
  return hashes;
}

// Converts a tensor [N, D] to floats.
std::vector<float> Floats(const runtime::Tensor& halves) {
  std::vector<float> floats(halves.size());
  const auto* bits = reinterpret_cast<const std::uint16_t*>(halves.bytes().data());
  std::transform(bits, bits + halves.size(), floats.begin(), runtime::FromHalf);
  return floats;
}

float Dot(std::span<const float> a, std::span<const float> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0F);
}

void PrintWords(std::string_view text, std::ostream& out) {
  for (const tokens::Part& part : tokens::SplitIntoParts(text, LexicalEncoder::kMaxWords)) {
    out << "part weight=" << part.weight << " words=";
    for (const tokens::Run& run : part.runs) {
      for (const std::string& word : run.words) out << ' ' << word;
    }
    out << '\n';
  }
}

absl::Status PrintNearest(const EmbedOptions& options, const LexicalEncoder& encoder,
                          std::span<const float> query, std::ostream& out) {
  SHOAL_ASSIGN_OR_RETURN(const auto schema, redfish::Schema::Load(options.schema));
  SHOAL_ASSIGN_OR_RETURN(const auto catalog, CatalogOf(options.capture, *schema));
  std::vector<std::string_view> texts;
  for (const redfish::Candidate& candidate : catalog->candidates()) texts.push_back(candidate.text);
  SHOAL_ASSIGN_OR_RETURN(const runtime::Tensor encoded, encoder.Encode(texts));
  const std::vector<float> vectors = Floats(encoded);
  std::vector<std::pair<float, std::size_t>> ranked;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    ranked.emplace_back(Dot(query, std::span(vectors).subspan(i * query.size(), query.size())), i);
  }
  const std::size_t shown = std::min(options.top, ranked.size());
  std::partial_sort(ranked.begin(), ranked.begin() + static_cast<std::ptrdiff_t>(shown),
                    ranked.end(), [](const auto& a, const auto& b) {
                      return a.first != b.first ? a.first > b.first : a.second < b.second;
                    });
  out << "nearest of " << texts.size() << " candidates of " << catalog->capture_name() << ":\n";
  for (std::size_t i = 0; i < shown; ++i) {
    out << std::fixed << std::setprecision(3) << ranked[i].first << ' ' << texts[ranked[i].second]
        << '\n';
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status FitLexical(const FitOptions& options, std::ostream& out) {
  if (options.captures.empty()) return runtime::InvalidArgument("fit needs at least one capture");
  SHOAL_ASSIGN_OR_RETURN(const auto schema, redfish::Schema::Load(options.schema));
  tokens::IdfTable::Fit fit;
  for (const std::string& path : options.captures) {
    SHOAL_ASSIGN_OR_RETURN(const auto catalog, CatalogOf(path, *schema));
    fit.StartService();
    for (const redfish::Candidate& candidate : catalog->candidates()) {
      fit.AddDocument(FeatureHashes(candidate.text));
    }
    out << catalog->Summary() << '\n';
  }
  SHOAL_RETURN_IF_ERROR(runtime::WriteFileAtomically(options.output, fit.Finish()));
  SHOAL_ASSIGN_OR_RETURN(const auto encoder, LexicalEncoder::Create(options.output));
  out << "wrote " << options.output << " version " << encoder->version() << '\n';
  return absl::OkStatus();
}

absl::Status EmbedLexical(const EmbedOptions& options, std::ostream& out) {
  SHOAL_ASSIGN_OR_RETURN(const auto encoder, LexicalEncoder::Create(options.table));
  const std::string_view text = options.text;
  SHOAL_ASSIGN_OR_RETURN(const runtime::Tensor encoded, encoder->Encode({&text, 1}));
  const std::vector<float> query = Floats(encoded);
  out << "version " << encoder->version() << "\ndimension " << encoder->dimension() << "\nlength "
      << std::sqrt(Dot(query, query)) << '\n';
  PrintWords(text, out);
  return options.capture.empty() ? absl::OkStatus() : PrintNearest(options, *encoder, query, out);
}

}  // namespace shoal::encoder
