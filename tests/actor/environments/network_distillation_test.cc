// SPDX-License-Identifier: Apache-2.0
#include "actor/environments/network_distillation.h"
