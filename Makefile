# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# rdma_ucmx and librdmacmx.  "make help" lists what there is.

# Make takes a path with blanks for several, of which "clean" would remove the first.
ifneq ($(words $(CURDIR)),1)
$(error the path of the checkout must not contain spaces: $(CURDIR))
endif

# What the kernel's own makes take.  Ours have "build", and several kernels in it.
$(foreach folder,O KBUILD_OUTPUT,$(if $(filter command,$(origin $(folder))),\
	$(error $(folder)= is not known here: everything is built in build; KDIR= says for which kernel)))
unexport KBUILD_OUTPUT

SHELL := /bin/bash
build := $(CURDIR)/build

# The kernel to build for: KDIR=, else the running one's headers, else the
# newest that is installed.
running := $(shell uname -r)
KDIR ?= $(firstword $(wildcard /lib/modules/$(running)/build) \
	  $(shell ls -d /lib/modules/*/build 2>/dev/null | sort -rV))
# The kernel of the VM that vm-module builds for.
KERNEL ?= debian

.PHONY: all
all: modules user ## module and library

.PHONY: help
help: ## this list
	@sed -n 's/^\([a-z][a-z_-]*\):[^#]*## /\1|/p' $(MAKEFILE_LIST) | \
		while IFS='|' read -r name text; do \
			printf '  make %-16s %s\n' "$$name" "$$text"; done

# Two goals, or two makes, may build in one folder: in-turn before a command has it wait
# for the other one.
in-turn = mkdir -p $(build) && flock $(build)/.$(1).lock

build-module = +@$(call in-turn,$(notdir $(1))) \
	$(MAKE) --no-print-directory module-in FOLDER=$(1) FOR=$(2) TESTS=$(3)

# kbuild wants the sources in the folder that it builds in, and several kernels
# are built for: so each gets a folder of links to the sources.  Where the kernel has
# KUnit the tests are built, too, if they are there.
.PHONY: module-in
module-in:
	@mkdir -p $(FOLDER)/kernel
	@ln -sfn $(CURDIR)/include $(FOLDER)/include
	@ln -sf $(CURDIR)/Kbuild $(FOLDER)/
	@ln -sf $(CURDIR)/kernel/*.[ch] $(FOLDER)/kernel/
	@$(if $(TESTS),mkdir -p $(FOLDER)/kernel/tests && \
		ln -sf $(CURDIR)/kernel/tests/* $(FOLDER)/kernel/tests/,rm -rf $(FOLDER)/kernel/tests)
	@find -L $(FOLDER)/kernel -name '*.[ch]' -type l -delete
	+$(MAKE) -C $(FOR) M=$(FOLDER) $(if $(V),V=$(V)) modules

.PHONY: modules
modules: ## rdma_ucmx.ko, for KDIR=, else the running kernel, else the newest
	@test -e "$(KDIR)/Makefile" || { \
		if [ "$(origin KDIR)" = file ]; then \
			echo "no kernel headers found; as root: apt-get install linux-headers-amd64," \
			     "or say KDIR="; \
		else \
			echo "KDIR=$(KDIR) has no Makefile, so it is no kernel build folder"; \
		fi >&2; exit 1; }
	@echo "building rdma_ucmx.ko for $(KDIR)"
	@[ "$(origin KDIR)" != file ] || [ -e /lib/modules/$(running)/build ] || \
		echo "note: the running kernel, $(running), has no headers here, so the" \
		     "module will not load into it: apt-get install linux-headers-$(running)"
	@# Without the tests, which "modules_install" would install.
	$(call build-module,$(build)/module,$(KDIR))

.PHONY: vm-module
vm-module: ## rdma_ucmx.ko for a kernel of the VM's; KERNEL=, see selftests/vm/run --list
	@kdir=$$(selftests/vm/kdir $(KERNEL)) && \
		$(MAKE) --no-print-directory vm-module-at VM_KDIR=$$kdir

.PHONY: vm-module-at
vm-module-at:
	$(call build-module,$(build)/$(KERNEL),$(VM_KDIR),tests)
	@# Where the kernel asks administrators of subnets, one for the tests.
	+@! grep -qsw rdma_resolve_ib_service $(VM_KDIR)/Module.symvers || { \
		mkdir -p $(build)/$(KERNEL)/services && \
		ln -sf $(CURDIR)/selftests/vm/services/* $(build)/$(KERNEL)/services && \
		$(call in-turn,$(KERNEL)) $(MAKE) -C $(VM_KDIR) \
			M=$(build)/$(KERNEL)/services $(if $(V),V=$(V)) modules; }

.PHONY: user
user: ## librdmacmx
	+@$(call in-turn,user) $(MAKE) -C user O=$(build)/user

.PHONY: examples
examples: user ## the programs in user/examples
	+@$(call in-turn,examples) $(MAKE) -C user/examples O=$(build)/examples LIBRARY=$(build)/user

# What the targets below need from Debian; as root they install it themselves.  To build
# and to show it takes less than to test it.
packages := gcc make git libc6-dev libibverbs-dev librdmacm-dev ibverbs-providers \
	    rdma-core rdmacm-utils iproute2 pkg-config udev qemu-system-x86 \
	    busybox-static cpio kmod mount
packages_tests := perftest python3-pyverbs gcc-multilib libc6-dev-i386 libcap2-bin mandoc \
	    fio qperf libfabric-bin ucx-utils dapl2-utils librpma-dev tgt \
	    openmpi-bin netpipe-openmpi qemu-utils qemu-block-extra valgrind \
	    trace-cmd bpftrace
packages_long := ceph-mon ceph-common

need-packages = @$(call in-turn,packages) \
	$(SHELL) -c '. selftests/vm/lib.sh && need_packages $(1)'

.PHONY: prepare
prepare: ## install what the targets below need from Debian, or say what is missing
	$(call need-packages,$(packages) $(packages_tests))

.PHONY: prepare-demo
prepare-demo:
	$(call need-packages,$(packages))

# The kernels of "check", and all that there is a module for.
check_kernels := debian debug
all_kernels := $(check_kernels) debian-6.12 6.1 6.12 7.3 6.12-debug 7.3-debug

define build-vm-modules
	+@for kernel in $(1); do \
		$(MAKE) --no-print-directory vm-module KERNEL=$$kernel || exit; \
	done
endef

.PHONY: vm-modules
vm-modules: prepare
	$(call build-vm-modules,$(check_kernels))

.PHONY: vm-modules-all
vm-modules-all: vm-modules
	$(call build-vm-modules,$(filter-out $(check_kernels),$(all_kernels)))

build-selftests = +@$(call in-turn,selftests) $(MAKE) -C selftests
build-library-tests = +@$(call in-turn,selftests) \
	$(MAKE) -C user/tests O=$(build)/selftests LIBRARY=$(build)/user

.PHONY: demo
demo: prepare-demo ## show what migration does, over soft-RoCE in a VM
	@echo "building module, library and program"
	+@$(MAKE) -s --no-print-directory vm-module KERNEL=debian 2>&1 | \
		{ grep -v 'Skipping BTF' || :; }; exit $${PIPESTATUS[0]}
	+@$(MAKE) -s --no-print-directory examples
	@user/examples/demo

.PHONY: tests
tests: vm-modules examples
	$(build-selftests)
	$(build-library-tests)

.PHONY: check
check: tests ## all tests: sources, KUnit, VM, programs
	selftests/check

.PHONY: check-long
check-long: tests ## tests that "check" has no time for
	$(call need-packages,$(packages_long))
	selftests/check --long

# These tests wait so much that two machines leave a quarter of two processors idle.
.PHONY: check-all
check-all: tests vm-modules-all ## tests on every kernel, over every fabric
	selftests/check --all --jobs 3

# Hostile use, for as long as is said; SECONDS is a variable of bash, too, which
# does no harm: only differences of it are looked at.
SECONDS ?= 600
hostile_kernel := $(if $(filter file,$(origin KERNEL)),debug,$(KERNEL))
run-hostile = selftests/vm/run --kernel $(hostile_kernel) --over stock \
	--timeout $$(($(SECONDS) + 660)) -- \
	env UCMX_SECONDS=$(SECONDS) UCMX_SEED=$(SEED) \
	selftests/run-in-vm.sh $(1)=$$(($(SECONDS) + 600))

.PHONY: build-hostile
build-hostile: prepare
	+$(MAKE) --no-print-directory vm-module KERNEL=$(hostile_kernel)
	$(build-selftests)

.PHONY: fuzz
fuzz: build-hostile ## a random walk over the commands; SECONDS=, SEED= to repeat one
	$(call run-hostile,walk_test)

.PHONY: soak
soak: build-hostile ## many processes and an account of every event; SECONDS=, KERNEL=debug|kcsan
	$(call run-hostile,soak)

.PHONY: mutants
mutants: prepare ## whether the tests can fail; MUTANTS="NAME..."
	$(build-selftests)
	selftests/mutants/run $(MUTANTS)

.PHONY: coverage
coverage: prepare user ## which lines of the module the tests reach
	$(build-selftests)
	$(build-library-tests)
	selftests/coverage/run

.PHONY: explore
explore: prepare ## every order of the core's steps; of any copy of it: CORE=DIR
	selftests/explore/run --deep $(if $(CORE),--core $(CORE)) $(SCENARIOS)

.PHONY: build-bench
build-bench: prepare user
	+$(MAKE) --no-print-directory vm-module KERNEL=debian
	$(build-selftests) bench

.PHONY: bench
bench: build-bench ## what it costs, beside the stock stack: Documentation/benchmarks.rst
	+$(MAKE) --no-print-directory vm-module KERNEL=debug
	selftests/bench/run --document

.PHONY: bench-quick
bench-quick: build-bench ## the main rows of that, as tests
	selftests/bench/run --quick

.PHONY: check-static
check-static: prepare ## the checks of the sources alone
	selftests/static

.PHONY: install
install: user ## install library, headers, manual; DESTDIR, PREFIX, libdir, ...
	+@$(call in-turn,user) $(MAKE) -C user O=$(build)/user install
	@if [ -z "$(DESTDIR)" ] && [ -w /etc/ld.so.cache ]; then \
		PATH=$$PATH:/sbin ldconfig; \
	else echo "then, where it is installed: ldconfig"; fi

.PHONY: uninstall
uninstall: ## remove what "install" installed, with the same variables
	+$(MAKE) -C user O=$(build)/user uninstall

include version.mk kernel/install.mk

# Built in a copy, for dpkg puts the packages into the folder above.
deb := $(build)/deb
deb_sources := debian include kernel user Documentation Kbuild Makefile README.rst version.mk

.PHONY: deb
deb: deb-source ## Debian packages of module and library, in build/deb
	+@$(MAKE) --no-print-directory deb-packages
	@ls $(deb)/*.deb

.PHONY: deb-source
deb-source:
	rm -rf $(deb)
	mkdir -p $(deb)/source
	cp -r $(deb_sources) $(deb)/source

.PHONY: deb-packages
deb-packages:
	@. selftests/vm/lib.sh && need_packages build-essential debhelper dh-dkms \
		libibverbs-dev librdmacm-dev
	cd $(deb)/source && env -u MAKEFLAGS dpkg-buildpackage -us -uc -b

.PHONY: clean
clean: ## remove what was built here; the cache with the test kernels stays
	rm -rf $(build)
