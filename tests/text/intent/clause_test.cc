// SPDX-License-Identifier: Apache-2.0
#include "text/intent/clause.h"

#include <catch2/catch.hpp>

namespace shoal::intent {
namespace {

TEST_CASE("A clause that only tells is background, one that asks is not") {
  const Sentence sentence("The fan noise is driving us mad, please power the server down, thanks");
  REQUIRE(IsBackground(sentence, 0));
  REQUIRE_FALSE(IsBackground(sentence, 1));
  REQUIRE_FALSE(IsBackground(sentence, 2));
}

TEST_CASE("A clause with a verb of the past and its object tells of the past") {
  REQUIRE(TellsOfPast(Sentence("After the swap a colleague reshuffled the list"), 0));
  REQUIRE_FALSE(TellsOfPast(Sentence("After the reboot downgrade it"), 0));
  REQUIRE_FALSE(TellsOfPast(Sentence("Please say who reshuffled the list"), 0));
}

}  // namespace
}  // namespace shoal::intent
