// SPDX-License-Identifier: Apache-2.0
// The flags of a bench's command line. Each is bound to a variable, whose value is the default.
//
//   double seconds = 2;
//   bench::Flags flags("What replay shards take and give over loopback");
//   flags.Add("--seconds", seconds, "of a round").Positive();
//   if (const auto code = flags.Parse(argc, argv)) return *code;
//
// CLI11 does the work. Only the source of this library includes it, since its headers take seconds
// to compile. The variables must outlive the Flags, and a Flag must not be used after the Flags
// that made it. Objects of both kinds are for one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace shoal::bench {

// One flag, which belongs to the Flags that made it. Each method returns this object, so that calls
// can be chained. Limits hold for each value of a flag that takes several, and --help prints them.
class Flag {
 public:
  // Both limits are allowed.
  Flag& InRange(int least, int most);
  Flag& InRange(double least, double most);
  // Allows numbers greater than 0.
  Flag& Positive();
  Flag& OneOf(const std::vector<std::string>& names);
  // A command line without this flag is an error.
  Flag& Required();
  // Lets --help print the value that the variable has now.
  Flag& ShowDefault();

 private:
  friend class Flags;
  explicit Flag(CLI::Option* option) : option_(option) {}

  CLI::Option* option_;
};

class Flags {
 public:
  // --help begins with `description`.
  explicit Flags(const std::string& description);
  ~Flags();
  Flags(const Flags&) = delete;
  Flags& operator=(const Flags&) = delete;

  // Adds a flag that is followed by a value.
  Flag Add(const std::string& name, int& value, const std::string& help = "");
  Flag Add(const std::string& name, std::int64_t& value, const std::string& help = "");
  Flag Add(const std::string& name, std::size_t& value, const std::string& help = "");
  Flag Add(const std::string& name, double& value, const std::string& help = "");
  Flag Add(const std::string& name, std::string& value, const std::string& help = "");

  // Adds a flag that is followed by one or more values, which replace those of the variable.
  Flag Add(const std::string& name, std::vector<int>& values, const std::string& help = "");
  Flag Add(const std::string& name, std::vector<std::int64_t>& values,
           const std::string& help = "");
  Flag Add(const std::string& name, std::vector<double>& values, const std::string& help = "");
  Flag Add(const std::string& name, std::vector<std::string>& values, const std::string& help = "");

  // Adds a flag that makes the variable true. "--yes,!--no" is one that has a name to make it
  // false, too.
  Flag Add(const std::string& name, bool& value, const std::string& help = "");

  // Sets the variables. Returns nothing if the bench should run. Otherwise prints help or an error
  // that names the flag, and returns the exit code of the bench.
  [[nodiscard]] std::optional<int> Parse(int argc, char** argv);

 private:
  const std::unique_ptr<CLI::App> app_;
};

}  // namespace shoal::bench
