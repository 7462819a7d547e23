/* Every row of every strategy that suits a case, in every order of the reference engine. */
#ifndef PF_TESTS_ROW_ASKS_H
#define PF_TESTS_ROW_ASKS_H

#include "enclosure.h"
#include "random_cases.h"

enum { MOST_ROWS = 16, MOST_ASKS = 10 * MOST_ROWS };

/* Every order of every row that binds, odd ones too. */
static inline int all_asks(const pf_case *c, pf_plan *plan, pf_ask *ask)
{
  int plans = 0, asks = 0;
  for (const pf_row *row = pf_rows; row->text && plans < MOST_ROWS; row++)
    if (row->graph == c->graph && !pf_plan_parse(row->strategy, row->text, c, &plan[plans], NULL))
      plans++;
  for (int i = 0; i < ODD_ROWS && plans < MOST_ROWS; i++)
    if (!pf_plan_parse("odd", strchr(odd_rows[i], ':') + 1, c, &plan[plans], NULL))
      plans++;
  for (int i = 0; pf_engines[i]; i++)
    for (int j = 0; pf_engines[i]->listed && j < plans; j++)
      ask[asks++] = (pf_ask){.plan = &plan[j], .order = pf_engines[i]->sum};
  return asks;
}

#endif
