// SPDX-License-Identifier: Apache-2.0
// Declares that nlohmann-json's parser and serializer are instantiated in json_templates.cc.
//
// Without these declarations the compiler generates both again in every source that calls
// json::parse or dump, which takes a second. The header is one of the precompiled headers, so no
// source has to include it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

extern template class nlohmann::detail::serializer<nlohmann::json>;
extern template class nlohmann::detail::lexer<
    nlohmann::json, nlohmann::detail::iterator_input_adapter<const char*>>;
extern template class nlohmann::detail::parser<
    nlohmann::json, nlohmann::detail::iterator_input_adapter<const char*>>;
extern template class nlohmann::detail::lexer<
    nlohmann::json, nlohmann::detail::iterator_input_adapter<std::string::const_iterator>>;
extern template class nlohmann::detail::parser<
    nlohmann::json, nlohmann::detail::iterator_input_adapter<std::string::const_iterator>>;
