// What the ACTIVE policy says of facts, with the exchange rates that its amounts need.
import { exchangeBefore } from '../../../shared/billing/exchange/exchange-rates.ts'
import { timesFraction } from '../../../shared/billing/fraction.ts'
import type { ReadUow } from '../../../shared/database/database.ts'
import { decimal } from '../../../shared/decimal.ts'
import { instantOf } from '../../../shared/time.ts'
import { loadRates } from '../parties/exchange-rates/load-rates.ts'
import { type Compared, type Evaluation, evaluate } from './rules/evaluate.ts'
import type { ApprovalPolicy } from './table.ts'

/** As `evaluate`, by the latest exchange rates. */
export async function judge(
  uow: ReadUow,
  { rule_groups: groups }: ApprovalPolicy,
  facts: Compared,
): Promise<Evaluation> {
  const { discount, commitments } = facts.after
  const own = [...discount.amounts, ...commitments].map(({ currency }) => currency)
  const compared = groups
    .flatMap(({ rules }) => rules)
    .flatMap(rule => rule.discount?.amount?.currency ?? rule.commitment?.amount.currency ?? [])
  const currencies = [...new Set([...own, ...compared])]
  const rates = own.length > 0 && currencies.length > 1 ? await loadRates(uow, currencies, uow.now) : []
  return evaluate(groups, facts, ({ quantity, currency: from }, to) => {
    if (from === to) return decimal(quantity)
    const exchange = exchangeBefore(rates, { from, to, until: instantOf(uow.now + 1) })
    return exchange && timesFraction(decimal(quantity), exchange.factor)
  })
}
