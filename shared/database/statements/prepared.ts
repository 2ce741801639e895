// Questions that are asked all the time, written down once for each connection: neither this process nor the server reads their text
// again. Only for those that name one row by its key, which no plan could answer better for one value than for another.
import type { Transaction } from '../transaction.ts'

type Runnable<Values, Row> = { execute(values: Values): Promise<Row[]> }

const made = new WeakMap<Transaction, Map<string, unknown>>()

/**
 * A question under a name that no other one has. `prepare` writes it with placeholders and `.prepare(name)`; it is called once for
 * each connection.
 */
export function preparedQuery<Values extends Record<string, unknown>, Row>(
  name: string,
  prepare: (tx: Transaction, name: string) => Runnable<Values, Row>,
): (tx: Transaction, values: Values) => Promise<Row[]> {
  return async (tx, values) => {
    const own = made.get(tx) ?? new Map<string, unknown>()
    if (own.size === 0) made.set(tx, own)
    const known = own.get(name) as Runnable<Values, Row> | undefined
    const question = known ?? prepare(tx, name)
    if (!known) own.set(name, question)
    return await question.execute(values)
  }
}
