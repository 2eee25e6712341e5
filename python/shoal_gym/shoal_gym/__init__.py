# SPDX-License-Identifier: Apache-2.0
"""An actor of a Shoal cluster that plays Gymnasium's environments."""
