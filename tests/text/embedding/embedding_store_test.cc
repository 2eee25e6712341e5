// SPDX-License-Identifier: Apache-2.0
#include "text/embedding/embedding_store.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace shoal::embedding {
namespace {

content::ContentKey Key(int number) { return content::KeyOf("text " + std::to_string(number)); }

TEST_CASE("The oldest embedding leaves, but none that is held") {
  EmbeddingStore store("test", 2, 3 * 164);
  const std::vector<std::uint16_t> values = {1, 2};
  store.Insert(Key(1), values);
  const Embedding held = store.Find(Key(1));
  for (int number = 2; number < 10; ++number) store.Insert(Key(number), values);
  REQUIRE(store.size() == 3);
  REQUIRE(store.Find(Key(1)) == held);
  REQUIRE(store.Find(Key(2)) == nullptr);
  REQUIRE(store.Find(Key(9)) != nullptr);
}

}  // namespace
}  // namespace shoal::embedding
