// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/flags.h"

#include <CLI/CLI.hpp>

namespace shoal::bench {

Flag& Flag::InRange(int least, int most) {
  option_->check(CLI::Range(least, most));
  return *this;
}

Flag& Flag::InRange(double least, double most) {
  option_->check(CLI::Range(least, most));
  return *this;
}

Flag& Flag::Positive() {
  option_->check(CLI::PositiveNumber);
  return *this;
}

Flag& Flag::OneOf(const std::vector<std::string>& names) {
  option_->check(CLI::IsMember(names));
  return *this;
}

Flag& Flag::Required() {
  option_->required();
  return *this;
}

Flag& Flag::ShowDefault() {
  option_->capture_default_str();
  return *this;
}

Flags::Flags(const std::string& description) : app_(std::make_unique<CLI::App>(description)) {}

Flags::~Flags() = default;

Flag Flags::Add(const std::string& name, int& value, const std::string& help) {
  return Flag(app_->add_option(name, value, help));
}

Flag Flags::Add(const std::string& name, std::int64_t& value, const std::string& help) {
  return Flag(app_->add_option(name, value, help));
}

Flag Flags::Add(const std::string& name, std::size_t& value, const std::string& help) {
  return Flag(app_->add_option(name, value, help));
}

Flag Flags::Add(const std::string& name, double& value, const std::string& help) {
  return Flag(app_->add_option(name, value, help));
}

Flag Flags::Add(const std::string& name, std::string& value, const std::string& help) {
  return Flag(app_->add_option(name, value, help));
}

Flag Flags::Add(const std::string& name, std::vector<int>& values, const std::string& help) {
  return Flag(app_->add_option(name, values, help));
}

Flag Flags::Add(const std::string& name, std::vector<std::int64_t>& values,
                const std::string& help) {
  return Flag(app_->add_option(name, values, help));
}

Flag Flags::Add(const std::string& name, std::vector<double>& values, const std::string& help) {
  return Flag(app_->add_option(name, values, help));
}

Flag Flags::Add(const std::string& name, std::vector<std::string>& values,
                const std::string& help) {
  return Flag(app_->add_option(name, values, help));
}

Flag Flags::Add(const std::string& name, bool& value, const std::string& help) {
  return Flag(app_->add_flag(name, value, help));
}

std::optional<int> Flags::Parse(int argc, char** argv) {
  try {
    app_->parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app_->exit(error);
  }
  return std::nullopt;
}

}  // namespace shoal::bench
