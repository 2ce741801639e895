// Questions that are asked all the time, written down once: neither this process nor the server reads their text
// again. Only for those that name one row by its key, which no plan could answer better for one value than for another.
import type { Transaction } from '../transaction.ts'
import { type Question, writtenOnce } from './written-once.ts'

type Runnable<Row> = { execute(values: Record<string, unknown>): Promise<Row[]> }

/**
 * A question under a name that no other one has. `prepare` writes it with placeholders and `.prepare(name)`; it is called once. Each
 * connection plans it once.
 */
export function preparedQuery<Values extends Record<string, unknown>, Row>(
  name: string,
  prepare: (tx: Transaction, name: string) => Runnable<Row>,
): (tx: Transaction, values: Values) => Promise<Row[]> {
  let ask: Question<Row> | undefined
  return async (tx, values) => {
    ask ??= writtenOnce<Row>(prepare(tx, name))
    return await ask(tx, values)
  }
}
