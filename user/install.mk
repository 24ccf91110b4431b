# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Where the library's results go, with the usual variables:
#
#   libdir                  librdmacmx.so.1, and the link for -lrdmacmx
#   libdir/rdma_ucmx        the library once more, as librdmacm.so.1
#   libdir/pkgconfig        librdmacmx.pc
#   includedir/rdma         <rdma/rdma_cmx.h>, <rdma/rdma_ucmx.h>
#   bindir                  rdmacmx-run
#   mandir                  the manual; man3ext is what its section 3 is called, for
#                           where the pages of librdmacm lie in the same folder
#
# DESTDIR goes before all of them, and into none of the files.

PREFIX ?= /usr/local
prefix ?= $(PREFIX)
exec_prefix ?= $(prefix)
bindir ?= $(exec_prefix)/bin
libdir ?= $(exec_prefix)/lib
includedir ?= $(prefix)/include
datarootdir ?= $(prefix)/share
mandir ?= $(datarootdir)/man
man3ext ?= 3
pkgconfigdir ?= $(libdir)/pkgconfig
privatedir := $(libdir)/rdma_ucmx
INSTALL ?= install

include $(HERE)../version.mk

HEADERS := $(HERE)include/rdma/rdma_cmx.h \
	   $(HERE)../include/uapi/rdma/rdma_ucmx.h
PAGES := $(wildcard $(HERE)man/*.[1-9])

# fill-in: what is known only when it is installed.
fill-in = sed -e 's|@privatedir@|$(privatedir)|' -e 's|@prefix@|$(prefix)|' \
	-e 's|@libdir@|$(libdir)|' -e 's|@includedir@|$(includedir)|' \
	-e 's|@version@|$(version)|'

# names PAGE: what else a page describes, by its NAME section.
names = sed -n '/^\.Sh NAME/,/^\.Nd/s/^\.Nm \([^ ,]*\).*/\1/p' $(1)

# A relative path is another one for each make that takes it.
define needs-root
	@for folder in $(DESTDIR) $(bindir) $(libdir) $(includedir) $(mandir) $(pkgconfigdir); do \
		case $$folder in \
		/*) ;; \
		*) echo "$$folder is no absolute path" >&2; exit 1 ;; \
		esac; \
	done
endef

install: all
	$(needs-root)
	$(INSTALL) -d $(DESTDIR)$(bindir) $(DESTDIR)$(privatedir) \
		$(DESTDIR)$(pkgconfigdir) $(DESTDIR)$(includedir)/rdma
	$(INSTALL) -m 755 $(O)/librdmacmx.so.1 $(DESTDIR)$(libdir)
	ln -sfn librdmacmx.so.1 $(DESTDIR)$(libdir)/librdmacmx.so
	ln -sfn ../librdmacmx.so.1 $(DESTDIR)$(privatedir)/librdmacm.so.1
	$(INSTALL) -m 644 $(HEADERS) $(DESTDIR)$(includedir)/rdma
	$(fill-in) $(HERE)librdmacmx.pc.in > $(DESTDIR)$(pkgconfigdir)/librdmacmx.pc
	chmod 644 $(DESTDIR)$(pkgconfigdir)/librdmacmx.pc
	$(fill-in) $(HERE)rdmacmx-run.in > $(DESTDIR)$(bindir)/rdmacmx-run
	chmod 755 $(DESTDIR)$(bindir)/rdmacmx-run
	@for page in $(PAGES); do \
		section=$${page##*.}; \
		folder=$(DESTDIR)$(mandir)/man$$section; \
		[ $$section != 3 ] || section=$(man3ext); \
		file=$$(basename $$page .$${page##*.}).$$section; \
		echo "installing $$file in $$folder"; \
		$(INSTALL) -d $$folder && $(INSTALL) -m 644 $$page $$folder/$$file || exit; \
		for name in $$($(call names,$$page)); do \
			[ $$name.$$section = $$file ] || \
				ln -sfn $$file $$folder/$$name.$$section || exit; \
		done; \
	done

uninstall:
	$(needs-root)
	rm -f $(DESTDIR)$(bindir)/rdmacmx-run $(DESTDIR)$(libdir)/librdmacmx.so \
		$(DESTDIR)$(libdir)/librdmacmx.so.1 \
		$(DESTDIR)$(privatedir)/librdmacm.so.1 \
		$(DESTDIR)$(pkgconfigdir)/librdmacmx.pc \
		$(addprefix $(DESTDIR)$(includedir)/rdma/,$(notdir $(HEADERS)))
	@for page in $(PAGES); do \
		section=$${page##*.}; \
		folder=$(DESTDIR)$(mandir)/man$$section; \
		[ $$section != 3 ] || section=$(man3ext); \
		for name in $$($(call names,$$page)); do \
			rm -f $$folder/$$name.$$section; \
		done; \
	done
	if [ -d $(DESTDIR)$(privatedir) ]; then rmdir $(DESTDIR)$(privatedir); fi
