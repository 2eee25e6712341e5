// SPDX-License-Identifier: Apache-2.0
// The names that a captured service gives to things of which people speak: BIOS attributes with
// their values, and boot options.
//
// Immutable, safe for any number of threads. It borrows nothing from the capture.
#pragma once

#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "redfish/capture/capture.h"
#include "text/intent/sentence.h"

namespace shoal::intent {

// A name in a sentence: what the service calls it, and the words [begin, end) that say it.
struct NameMatch {
  std::string name;
  std::size_t begin = 0;
  std::size_t end = 0;
  // Whether the sentence has the name as the service writes it, but for capitals.
  bool exact = false;
};

class CaptureNames {
 public:
  explicit CaptureNames(const redfish::Capture& capture);

  // Returns the BIOS attributes that the sentence names, in its order. People say an attribute's
  // name ("ProcHyperthreading", "proc hyperthreading"), the name in setup ("Logical Processor"), or
  // the name without "Proc", where only one attribute is meant.
  std::vector<NameMatch> Attributes(const Sentence& sentence) const;
  // Returns the value that the words [begin, end) say for `attribute`: one of its values or a
  // number, or with `loosely` also "off" for "Disabled" and the like. Returns nothing when they say
  // none. A value after "from" or "still" counts only when there is no other. One that is denied
  // does not count; where it must not be, and there are two values, it is the other one.
  std::optional<nlohmann::json> Value(const Sentence& sentence, const std::string& attribute,
                                      std::size_t begin, std::size_t end, bool loosely) const;
  // Returns the boot options that the sentence names by reference ("Boot0003") or by the longest
  // part of a display name that only one option has.
  std::vector<NameMatch> BootOptions(const Sentence& sentence) const;
  // Adds the names, and the words of the values, in lower case.
  void AddWords(WordSet& words) const;

 private:
  // The words by which people may say something, made ready for comparison.
  struct Wording {
    explicit Wording(std::vector<std::string> text);
    std::vector<std::string> words;
    // All of them as one.
    std::string joined;
    bool has_digits = false;
  };
  struct Name {
    std::string name;
    Wording wording;
  };
  // A value of an attribute; null stands for any number.
  struct NamedValue {
    nlohmann::json value;
    // The value itself, and behind it what people say loosely.
    std::vector<Wording> ways;
  };
  static std::vector<Wording> WaysToSay(const nlohmann::json& value);
  // Returns where `wording` ends when the sentence says it at `at`, in as many words as it likes
  // ("hyper threading" for "hyperthreading"); 0 when it does not.
  static std::size_t EndOf(const Wording& wording, const std::vector<std::string>& words,
                           std::size_t at);
  void AddAttributes(const redfish::Capture& capture, const std::string& system);
  void AddBootOptions(const redfish::Capture& capture, const std::string& system);
  void AddAttributeName(const std::string& attribute, const std::string& text);

  std::vector<Name> attributes_;
  std::vector<Name> boot_references_;
  std::vector<Name> boot_titles_;
  // By attribute.
  std::map<std::string, std::vector<NamedValue>> values_;
};

}  // namespace shoal::intent
