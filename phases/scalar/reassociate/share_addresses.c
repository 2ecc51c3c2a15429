// SPDX-License-Identifier: MIT
// placeholder
#include "phases/scalar/reassociate/reassociate.h"

void share_address(Reassoc *r, InstrId id) { (void)r, (void)id; }
