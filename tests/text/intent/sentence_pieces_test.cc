// SPDX-License-Identifier: Apache-2.0
#include "text/intent/sentence_pieces.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace shoal::intent {
namespace {

std::vector<std::string> PiecesIn(const std::string& text) {
  std::vector<std::string> texts;
  for (const Piece& piece : PiecesOf(text)) {
    texts.push_back(text.substr(piece.begin, piece.end - piece.begin));
  }
  return texts;
}

using Strings = std::vector<std::string>;

TEST_CASE("A text falls into pieces at marks behind words, conjunctions and items of a list") {
  REQUIRE(PiecesIn("RAID1 on both disks, Secure Boot on and then boot once.") ==
          Strings{"RAID1 on both disks", "Secure Boot on", "boot once"});
  REQUIRE(PiecesIn("(1) mirror the disks (2) power on") == Strings{"mirror the disks", "power on"});
  REQUIRE(PiecesIn("1. mirror the disks\n2. power on") == Strings{"mirror the disks", "power on"});
  REQUIRE(PiecesIn("NumLock (wanted: On), light it") ==
          Strings{"NumLock (wanted", "On)", "light it"});
  REQUIRE(PiecesIn("- mirror the disks\n- power on\n") == Strings{"mirror the disks", "power on"});
  REQUIRE(PiecesIn("is it on? power it on!") == Strings{"is it on?", "power it on"});
}

TEST_CASE("Addresses, numbers and quotations are not divided") {
  REQUIRE(PiecesIn("flash http://a.example/x,y;z.bin to 2.19, thanks") ==
          Strings{"flash http://a.example/x,y;z.bin to 2.19", "thanks"});
  REQUIRE(PiecesIn("tag \"rack 3, slot and 4\" on it") ==
          Strings{"tag \"rack 3, slot and 4\" on it"});
}

TEST_CASE("A text without words has no pieces") {
  REQUIRE(PiecesIn("").empty());
  REQUIRE(PiecesIn("  and - then \n").empty());
  REQUIRE(PiecesIn("both 3.5\" drives, on") == Strings{"both 3.5\" drives", "on"});
}

}  // namespace
}  // namespace shoal::intent
