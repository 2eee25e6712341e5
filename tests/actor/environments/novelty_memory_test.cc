// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/novelty_memory.h"
