// SPDX-License-Identifier: Apache-2.0
#include "platform/runtime/json_templates.h"

template class nlohmann::detail::serializer<nlohmann::json>;
template class nlohmann::detail::lexer<nlohmann::json,
                                       nlohmann::detail::iterator_input_adapter<const char*>>;
template class nlohmann::detail::parser<nlohmann::json,
                                        nlohmann::detail::iterator_input_adapter<const char*>>;
template class nlohmann::detail::lexer<
    nlohmann::json, nlohmann::detail::iterator_input_adapter<std::string::const_iterator>>;
template class nlohmann::detail::parser<
    nlohmann::json, nlohmann::detail::iterator_input_adapter<std::string::const_iterator>>;
