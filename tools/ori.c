// SPDX-License-Identifier: MIT
#include "tools/ori.h"
#include "tools/options.h"

const char *ori_version(void) { return ORI_VERSION; }
