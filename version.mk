# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The version of what is installed: pkg-config's, DKMS's and, with what stands in
# debian/changelog, that of the packages.
version := 1.0
