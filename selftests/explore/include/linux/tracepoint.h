/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Nobody traces here. */
#ifndef EXPLORE_TRACEPOINT_H
#define EXPLORE_TRACEPOINT_H

#define TP_PROTO(...)	__VA_ARGS__
#define DECLARE_EVENT_CLASS(name, proto, args, entry, assign, print)
#define DEFINE_EVENT(class, name, proto, args) \
	static inline void trace_##name(proto) { }
#define TRACE_EVENT(name, proto, args, entry, assign, print) \
	static inline void trace_##name(proto) { }

#endif /* EXPLORE_TRACEPOINT_H */
