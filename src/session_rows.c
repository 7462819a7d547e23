/* Rows bound to cases.  Fuzzing asks for the same rows of cases with the same dtypes again and again:
   what was bound is kept by all that binding looks at. */
#include <stdlib.h>
#include <string.h>

#include "row_parser.h"
#include "session_parts.h"

/* All that pf_plan_parse reads of a case, and which rows are asked for. */
typedef struct pf_row_key {
  pf_graph graph;
  pf_dtype dtype[PF_ROLE_COUNT];
  bool present[PF_ROLE_COUNT];
  pf_scale_kind scale[2];  /* of x and y */
  uint32_t alpha, beta;    /* dtypes that hold it, a bit each */
  int strategies;          /* 0: the graph's own */
} pf_row_key;

enum { KEPT = 512 };

typedef struct pf_row_cache {
  pf_row_key key[KEPT];
  pf_row_set *set[KEPT];
  pf_strategy strategy[PF_MAX_STRATEGIES];  /* that all sets with strategies were bound to */
  pf_row_set *passing;                      /* of a case that is not kept */
} pf_row_cache;

/* Rows of the table name no formats but those of dtypes and TF32. */
static uint32_t holders(double factor)
{
  uint32_t bits = pf_row_holds(&pf_tf32, factor);
  for (int t = 0; t < PF_DTYPE_COUNT; t++)
    bits = bits << 1 | pf_row_holds(pf_format_of((pf_dtype)t), factor);
  return bits;
}

/* Padding is zero: keys are compared byte by byte. */
static void key_of(const pf_options *o, const pf_case *c, pf_row_key *key)
{
  memset(key, 0, sizeof *key);
  key->graph = c->graph;
  for (int r = 0; r < PF_ROLE_COUNT; r++) {
    key->dtype[r] = c->operand[r].dtype;
    key->present[r] = c->operand[r].present;
  }
  key->scale[0] = c->operand[PF_X].scale.kind;
  key->scale[1] = c->operand[PF_Y].scale.kind;
  if (pf_graph_of(c->graph)->has_c) {
    key->alpha = holders(c->alpha);
    key->beta = holders(c->beta);
  }
  key->strategies = o->strategy_count;
}

static size_t place_of(const pf_row_key *key)
{
  uint32_t words[sizeof *key / sizeof(uint32_t)];
  uint64_t hash = 0;
  memcpy(words, key, sizeof words);
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    hash = (hash ^ words[i]) * 0x100000001b3u;
  return (size_t)(pf_hash(hash) % KEPT);
}

/* Of the first n rows one with that text; NULL. */
static const pf_bound_row *find_text(const pf_row_set *s, int n, const char *text)
{
  for (int i = 0; i < n; i++)
    if (s->row[i].text && !strcmp(s->row[i].text, text))
      return &s->row[i];
  return NULL;
}

/* text: NULL for the graph's row of that name.  What the first n rows of the set have parsed is not
   parsed again. */
static void bind(const pf_case *c, const pf_row_set *s, int n, pf_bound_row *r, const char *name,
                 const char *text)
{
  const pf_row *row = text ? NULL : pf_row_find(c->graph, name);
  const char *own = row ? row->text : text;
  const pf_bound_row *like = own ? find_text(s, n, own) : NULL;
  if (like)
    *r = *like;
  else
    memset(r, 0, sizeof *r);
  strncpy(r->strategy.name, name, sizeof r->strategy.name - 1);
  r->text = own;
  if (!own)
    r->status = pf_fail(&r->error, PF_UNSUPPORTED, 0, "the graph has no such row");
  else if (!like)
    r->status = pf_plan_parse(r->strategy.name, own, c, &r->plan, &r->error);
  r->plan.strategy = r->strategy.name;
}

static int rows_of(const pf_options *o, pf_graph graph)
{
  int n = o->strategy_count;
  for (const pf_row *r = pf_rows; !o->strategy_count && r->text; r++)
    n += r->graph == graph && !r->by_name;
  return n;
}

static int first_same(const pf_row_set *s, int i)
{
  int j = 0;
  while (j < i && (s->row[i].status || s->row[j].status ||
                   !pf_plan_equal(&s->row[j].plan, &s->row[i].plan)))
    j++;
  return j;
}

/* In place of *set. */
static pf_status bind_all(const pf_options *o, const pf_case *c, pf_row_set **set)
{
  const int rows = rows_of(o, c->graph);
  pf_row_set *s = *set;
  if (!s || s->rows != rows) {
    s = realloc(s, sizeof *s + (size_t)rows * sizeof *s->row);
    if (!s)
      return PF_NO_MEMORY;
    *set = s;
  }
  s->rows = rows;
  int n = 0;
  for (int i = 0; i < o->strategy_count; i++, n++)
    bind(c, s, n, &s->row[n], o->strategy[i].name, o->strategy[i].text);
  for (const pf_row *r = pf_rows; !o->strategy_count && r->text; r++)
    if (r->graph == c->graph && !r->by_name) {
      bind(c, s, n, &s->row[n], r->strategy, r->text);
      n++;
    }
  for (int i = 0; i < rows; i++)
    s->row[i].same = first_same(s, i);
  bind(c, s, n, &s->promise, pf_graph_of(c->graph)->promises, NULL);
  return PF_OK;
}

static bool same_strategies(const pf_row_cache *k, const pf_options *o)
{
  for (int i = 0; i < o->strategy_count; i++)
    if (strcmp(k->strategy[i].name, o->strategy[i].name))
      return false;
  return true;
}

/* A text may change where it stands. */
static bool has_texts(const pf_options *o)
{
  for (int i = 0; i < o->strategy_count; i++)
    if (o->strategy[i].text)
      return true;
  return false;
}

/* Sets of other strategies are of no use. */
static void take_strategies(pf_row_cache *k, const pf_options *o)
{
  if (same_strategies(k, o))
    return;
  for (int i = 0; i < KEPT; i++)
    k->key[i].strategies = -1;
  memcpy(k->strategy, o->strategy, sizeof k->strategy);
}

pf_status pf_rows_bind(pf_session *s, const pf_case *c, const pf_row_set **out)
{
  const pf_options *o = &s->options;
  pf_row_key key;
  if (!s->rows)
    s->rows = calloc(1, sizeof *s->rows);
  if (!s->rows)
    return PF_NO_MEMORY;
  take_strategies(s->rows, o);
  key_of(o, c, &key);
  const size_t at = place_of(&key);
  const bool kept = !has_texts(o);
  pf_row_set **set = kept ? &s->rows->set[at] : &s->rows->passing;
  const bool known = kept && *set && !memcmp(&s->rows->key[at], &key, sizeof key);
  if (!known)
    PF_TRY(bind_all(o, c, set));
  if (kept)
    s->rows->key[at] = key;
  *out = *set;
  return PF_OK;
}

void pf_rows_free(pf_session *s)
{
  for (int i = 0; s->rows && i < KEPT; i++)
    free(s->rows->set[i]);
  if (s->rows)
    free(s->rows->passing);
  free(s->rows);
  s->rows = NULL;
}
