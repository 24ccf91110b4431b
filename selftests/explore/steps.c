// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A seed is the name of a scenario, a colon, and what was chosen at each step:
 * an actor's letter (a to f, w1 and so on for workers, h for the stage hand);
 * with "!" what it does fails; s and a letter: it gets a signal; t and a letter:
 * its time has come; p: pages come.  A number in front says how often.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "report.h"
#include "search.h"
#include "steps.h"
#include "world.h"

bool steps_talk;

static int put_actor(char *to, int k)
{
	if (k == STAGE_HAND)
		return sprintf(to, "h");
	if (k >= FIRST_WORKER)
		return sprintf(to, "w%d", k - FIRST_WORKER);
	return sprintf(to, "%c", 'a' + k - 1);
}

static void put_choice(char *to, struct choice choice)
{
	switch (choice.what) {
	case CHOOSE_RUN:
		put_actor(to, choice.actor);
		break;
	case CHOOSE_FAIL:
		to += put_actor(to, choice.actor);
		strcpy(to, "!");
		break;
	case CHOOSE_SIGNAL:
		*to++ = 's';
		put_actor(to, choice.actor);
		break;
	case CHOOSE_CLOCK:
		*to++ = 't';
		put_actor(to, choice.actor);
		break;
	case CHOOSE_PAGE:
		strcpy(to, "p");
		break;
	}
}

static bool same(struct choice a, struct choice b)
{
	return a.what == b.what && a.actor == b.actor;
}

void steps_seed(char *to, size_t size, const struct scenario *scenario,
		const struct choice *steps, int n)
{
	size_t used = snprintf(to, size, "%s:", scenario->name);
	char word[16];
	int i, times;

	for (i = 0; i < n && used < size; i += times) {
		for (times = 1; i + times < n; times++) {
			if (!same(steps[i], steps[i + times]))
				break;
		}
		put_choice(word, steps[i]);
		if (times > 1)
			used += snprintf(to + used, size - used, "%d%s", times,
					 word);
		else
			used += snprintf(to + used, size - used, "%s", word);
	}
}

static int get_actor(const char **text)
{
	char c = *(*text)++;

	if (c == 'h')
		return STAGE_HAND;
	if (c == 'w')
		return FIRST_WORKER + *(*text)++ - '0';
	return 1 + c - 'a';
}

bool steps_parse(const char **text, struct choice *choice)
{
	static int times;
	static struct choice last;
	char *end;

	if (!times && !**text)
		return false;
	if (!times) {
		times = isdigit(**text) ? strtol(*text, &end, 10) : 1;
		if (isdigit(**text))
			*text = end;
		last = (struct choice){ CHOOSE_RUN };
		switch (**text) {
		case 't':
			last.what = CHOOSE_CLOCK;
			(*text)++;
			last.actor = get_actor(text);
			break;
		case 'p':
			last.what = CHOOSE_PAGE;
			(*text)++;
			break;
		case 's':
			last.what = CHOOSE_SIGNAL;
			(*text)++;
			last.actor = get_actor(text);
			break;
		default:
			last.actor = get_actor(text);
		}
		if (**text == '!') {
			last.what = CHOOSE_FAIL;
			(*text)++;
		}
		if (last.actor >= MAX_ACTORS || times <= 0) {
			times = 0;
			return false;
		}
	}
	times--;
	*choice = last;
	return true;
}

void search_say(const char *format, ...)
{
	va_list args;

	if (!steps_talk)
		return;
	printf("#      ");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	fflush(stdout);
}

static int said;

void steps_say_text(const char *text)
{
	if (steps_talk)
		printf("# %3d  %s\n", ++said, text);
}

static void say_run(int k, bool fails)
{
	const struct actor *actor = &W.actors[k];

	printf("# %3d  %s: %s%s", ++said, actor_name(k), words_of(actor),
	       !fails ? "" : actor->looks ? ": yes" : ", which fails");
	if (actor->place)
		printf("  [%s:%d %s()]", actor->place->file, actor->place->line,
		       actor->place->func);
	if (actor->pc) {
		printf("  [");
		report_place(actor->pc);
		printf("]");
	}
	printf("\n");
}

void steps_say(struct choice choice)
{
	if (!steps_talk)
		return;
	switch (choice.what) {
	case CHOOSE_RUN:
	case CHOOSE_FAIL:
		say_run(choice.actor, choice.what == CHOOSE_FAIL);
		break;
	case CHOOSE_SIGNAL:
		printf("# %3d  %s gets a signal\n", ++said,
		       actor_name(choice.actor));
		break;
	case CHOOSE_CLOCK:
		printf("# %3d  the time of %s has come\n", ++said,
		       actor_name(choice.actor));
		break;
	case CHOOSE_PAGE:
		printf("# %3d  the pages that were missing are there\n", ++said);
		break;
	}
	fflush(stdout);
}
