// What is used held against a rule's threshold. Pure, and exact: a share of what is granted is not rounded.
import { type Decimal, decimal, plain, ZERO } from '../../../../shared/decimal.ts'
import type { UsageFigure } from '../../billing/usage/usage-needs.ts'
import type { RuleEntitlement } from '../schema.ts'

type Amount = { readonly quantity: string; readonly currency: string }
/** What is granted: a number or an amount, by the type of the feature. */
export type Granted = { readonly number?: string | null; readonly amount?: Amount | null }
export type AlertValue = { readonly number: string } | { readonly amount: Amount }

export type Finding = {
  readonly holds: boolean
  readonly entitlement_value: AlertValue
  readonly threshold_value: AlertValue
  readonly used_value: AlertValue
}

/** `currency` null for a plain number. */
type Measure = { readonly number: Decimal; readonly currency: string | null }

const PERCENT = decimal('0.01')

/**
 * Whether the comparison of the rule holds, and the values on either side. An amount is compared with what is used in the
 * threshold's currency alone. Null when nothing is granted that could be held against (semantics 9.3).
 */
export function compareToThreshold(
  rule: RuleEntitlement,
  granted: Granted,
  figures: readonly UsageFigure[],
): Finding | null {
  const own = measureOf(granted)
  const threshold = thresholdOf(rule.threshold, own)
  if (own === null || threshold === null) return null
  const { currency } = threshold
  const used = figures.find(figure => figure.currency === currency)?.number ?? ZERO
  return {
    holds: compares(rule.comparator, used, threshold.number),
    entitlement_value: shown(own),
    threshold_value: shown(threshold),
    used_value: shown({ number: used, currency }),
  }
}

function thresholdOf(threshold: RuleEntitlement['threshold'], granted: Measure | null): Measure | null {
  if (threshold.percentage == null) return measureOf(threshold)
  return granted && { ...granted, number: granted.number.times(decimal(threshold.percentage)).times(PERCENT) }
}

function measureOf({ number, amount }: Granted): Measure | null {
  if (number != null) return { number: decimal(number), currency: null }
  return amount == null ? null : { number: decimal(amount.quantity), currency: amount.currency }
}

const shown = ({ number, currency }: Measure): AlertValue =>
  currency === null ? { number: plain(number) } : { amount: { quantity: plain(number), currency } }

function compares(comparator: RuleEntitlement['comparator'], used: Decimal, threshold: Decimal): boolean {
  switch (comparator) {
    case 'GREATER_THAN':
      return used.gt(threshold)
    case 'GREATER_THAN_OR_EQUALS':
      return used.gte(threshold)
    case 'LESS_THAN':
      return used.lt(threshold)
    case 'LESS_THAN_OR_EQUALS':
      return used.lte(threshold)
    default:
      throw new Error(`no rule is saved with ${comparator}`)
  }
}
