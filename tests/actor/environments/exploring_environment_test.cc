// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/exploring_environment.h"
