# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Where the module goes.
#
#   /lib/modules/RELEASE/updates   the module, for one kernel, KDIR's
#   modprobedir                    what it is loaded in the order of
#   /usr/src/rdma-ucmx-VERSION     its source, for DKMS, which builds it for each kernel
#
# INSTALL_MOD_PATH goes before the first two, as with the kernel's own modules,
# DESTDIR before the source for DKMS.

modprobedir ?= /usr/local/lib/modprobe.d
# As modules have it: kernel.release of Debian's 6.1 is something else.
release = $(shell sed -n 's/^.define UTS_RELEASE "\(.*\)"$$/\1/p' $(KDIR)/include/generated/utsrelease.h 2> /dev/null)
updates = $(INSTALL_MOD_PATH)/lib/modules/$(release)/updates
define needs-kernel
	@test -n "$(release)" || { \
		echo "KDIR=$(KDIR) is no kernel's build folder: apt-get install" \
		     "linux-headers-amd64, or say KDIR=" >&2; exit 1; }
endef
# kbuild goes elsewhere before it installs.
define needs-root
	@[ "$(INSTALL_MOD_PATH)" = "$(filter /%,$(INSTALL_MOD_PATH))" ] || { \
		echo "INSTALL_MOD_PATH must be a path from the root: $(INSTALL_MOD_PATH)" >&2; exit 1; }
endef
define needs-this-machine
	@test -z "$(DESTDIR)$(INSTALL_MOD_PATH)" || { \
		echo "DKMS builds for the machine that it is on; what it takes goes elsewhere" \
		     "with: make dkms-source DESTDIR=" >&2; exit 1; }
endef
# Of two modules of one name that are both in "updates" either may be loaded, and DKMS
# takes one that is there already for its own.  What DKMS has for one kernel it builds for
# others when they come.
define the-only-one
	@found=$$(ls $(1) 2> /dev/null || :); [ -z "$$found" ] || { \
		echo "$$found is there; first: $(strip $(2))" >&2; exit 1; }
endef
of_dkms = $(updates)/dkms/rdma_ucmx.ko* $(INSTALL_MOD_PATH)/usr/src/rdma-ucmx-*/dkms.conf
# remove-line PATH: modprobe's, unless a module of another kernel or of DKMS needs it.
define remove-line
	@left=$$(ls $(1)/lib/modules/*/updates/rdma_ucmx.ko* $(1)/usr/src/rdma-ucmx-*/dkms.conf \
		2> /dev/null || :); [ -n "$$left" ] || rm -f $(1)$(modprobedir)/rdma_ucmx.conf
endef
sbin := PATH=$$PATH:/usr/sbin:/sbin
# What "modules" has built.
module ?= $(build)/module

.PHONY: modules_install
modules_install: modules ## install rdma_ucmx.ko for KDIR; INSTALL_MOD_PATH
	+@$(MAKE) --no-print-directory install-module

.PHONY: install-module
install-module:
	$(needs-root)
	$(needs-kernel)
	$(call the-only-one,$(of_dkms),make dkms-remove or apt-get remove rdma-ucmx-dkms)
	$(MAKE) -C $(KDIR) M=$(module) CONFIG_MODULE_SIG_ALL= INSTALL_MOD_DIR=updates \
		modules_install
	install -D -m 644 kernel/modprobe.conf \
		$(INSTALL_MOD_PATH)$(modprobedir)/rdma_ucmx.conf
	@# Debian's headers have no System.map, without which kbuild leaves this out.
	@if [ -z "$(INSTALL_MOD_PATH)" ]; then $(sbin); depmod $(release); \
	else echo "then, where it is installed: depmod"; fi

.PHONY: modules_uninstall
modules_uninstall: ## remove what "modules_install" installed, for KDIR
	$(needs-root)
	$(needs-kernel)
	rm -f $(updates)/rdma_ucmx*.ko*
	$(call remove-line,$(INSTALL_MOD_PATH))
	[ ! -d $(updates) ] || rmdir --ignore-fail-on-non-empty $(updates)
	@if [ -z "$(INSTALL_MOD_PATH)" ]; then $(sbin); depmod $(release); fi

dkms_module := rdma-ucmx/$(version)
dkms_source := /usr/src/rdma-ucmx-$(version)

# What builds the module and nothing else.
.PHONY: dkms-source
dkms-source:
	@[ "$(DESTDIR)" = "$(filter /%,$(DESTDIR))" ] || { \
		echo "DESTDIR must be a path from the root: $(DESTDIR)" >&2; exit 1; }
	install -d $(DESTDIR)$(dkms_source)/kernel $(DESTDIR)$(dkms_source)/include/uapi/rdma
	install -m 644 Kbuild $(DESTDIR)$(dkms_source)
	install -m 644 kernel/*.[ch] $(DESTDIR)$(dkms_source)/kernel
	install -m 644 include/uapi/rdma/*.h $(DESTDIR)$(dkms_source)/include/uapi/rdma
	sed 's/#MODULE_VERSION#/$(version)/' kernel/dkms.conf > $(DESTDIR)$(dkms_source)/dkms.conf
	chmod 644 $(DESTDIR)$(dkms_source)/dkms.conf
	install -D -m 644 kernel/modprobe.conf $(DESTDIR)$(modprobedir)/rdma_ucmx.conf

# A kernel for which it is refused must not be left with half of it.
.PHONY: dkms-install
dkms-install: ## have DKMS build and install it: for KDIR now, then for each new kernel
	$(needs-this-machine)
	$(needs-kernel)
	$(call the-only-one,/lib/modules/*/updates/rdma_ucmx.ko*,make modules_uninstall with the KDIR of that)
	+@$(MAKE) --no-print-directory dkms-remove
	+@$(MAKE) --no-print-directory dkms-source DESTDIR=
	$(sbin) dkms add $(dkms_module)
	$(sbin) dkms install $(dkms_module) -k $(release) --kernelsourcedir $(KDIR) || \
		{ $(MAKE) --no-print-directory dkms-remove; exit 1; }

.PHONY: dkms-remove
dkms-remove: ## remove what "dkms-install" installed, from all kernels
	$(needs-this-machine)
	@. selftests/vm/lib.sh && need_packages dkms
	@if dpkg-query -S '/usr/src/rdma-ucmx-*' 2> /dev/null; then \
		echo "the package has installed it: apt-get remove rdma-ucmx-dkms" >&2; \
		exit 1; \
	fi
	@# Whatever version it was.
	@$(sbin); status=$$(dkms status rdma-ucmx) || exit; \
	for module in $$(sed -n 's,^\(rdma-ucmx/[^,: ]*\).*,\1,p' <<< "$$status" | sort -u); do \
		dkms remove $$module --all && rm -rf /usr/src/$${module/\//-} || exit; \
	done
	rm -rf $(dkms_source)
	$(call remove-line)
