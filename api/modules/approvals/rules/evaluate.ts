// Whether facts need an approval by the rules of a policy: rules within a group hold together, groups one for another, and a group
// without rules, or a policy without groups, always holds (semantics 7). Pure.
import { isDeepStrictEqual } from 'node:util'
import { type Decimal, decimal, isPlainDecimal, max, ZERO } from '../../../../shared/decimal.ts'
import type { Rule, RuleComparator, RuleGroups } from '../schema.ts'
import type { Defaulted, FactAmount, Facts } from './facts.ts'

/** The amount in another currency; null where no exchange rate says it. */
export type Convert = (amount: FactAmount, currency: string) => Decimal | null

/** `reasons`: of CANNOT_BE_DETERMINED, what is missing (contract: Approval policy evaluation). */
export type Evaluation =
  | { readonly status: 'NO_APPROVAL_REQUIRED' | 'APPROVAL_REQUIRED' }
  | { readonly status: 'CANNOT_BE_DETERMINED'; readonly reasons: readonly string[] }

/** What is not known says why. */
type Judged = boolean | { readonly unknown: readonly string[] }

/**
 * `before`: the facts that need no approval any more; null for none. `added`: the discounts of `after` that are given beyond those of
 * `before`, which facts alone do not say: two discounts of the same size are one fact.
 */
export type Compared = {
  readonly before: Facts | null
  readonly after: Facts
  readonly added?: Facts['discount'] | undefined
}

/**
 * Whether `after` needs an approval. With `before`, only the groups count that are about a fact which differs: what was valid is not
 * reviewed again. Where `added` is known, rules about large discounts judge these alone.
 */
export function evaluate(groups: RuleGroups, facts: Compared, convert: Convert): Evaluation {
  const all = groups.length === 0 ? [{ rules: [] }] : groups
  const judged = anyOf(
    all.flatMap(({ rules }) => {
      const after = countedFacts(rules, facts)
      return after === null ? [] : [allOf(rules.map(rule => judge(rule, after, convert)))]
    }),
  )
  if (typeof judged === 'boolean') return { status: judged ? 'APPROVAL_REQUIRED' : 'NO_APPROVAL_REQUIRED' }
  return { status: 'CANNOT_BE_DETERMINED', reasons: [...new Set(judged.unknown)] }
}

const reasonsIn = (all: readonly Judged[]): string[] =>
  all.flatMap(each => (typeof each === 'boolean' ? [] : each.unknown))

/** One that does not hold decides, whatever is not known of the others. */
function allOf(all: readonly Judged[]): Judged {
  if (all.includes(false)) return false
  const unknown = reasonsIn(all)
  return unknown.length === 0 || { unknown }
}

/** One that holds decides, whatever is not known of the others. */
function anyOf(all: readonly Judged[]): Judged {
  if (all.includes(true)) return true
  const unknown = reasonsIn(all)
  return unknown.length > 0 && { unknown }
}

const NO_DISCOUNT: Facts['discount'] = { percentages: [], amounts: [] }
const isOfLargeDiscounts = ({ type, comparator }: Rule): boolean =>
  type === 'DISCOUNT' && comparator?.startsWith('GREATER') === true

/** The facts that a group of rules is judged by; null where it is not about what differs. No rules are about all facts. */
function countedFacts(rules: readonly Rule[], { before, after, added }: Compared): Facts | null {
  if (before === null) return after
  const isAdded = added !== undefined && !isDeepStrictEqual(added, NO_DISCOUNT)
  // Where one is added, that before counts as none, so that the two differ whatever their size.
  const valid = isAdded ? { ...before, discount: NO_DISCOUNT } : before
  const differing = (rules.length === 0 ? [ALWAYS] : rules).filter(
    rule => !isDeepStrictEqual(factsFor(rule, valid), factsFor(rule, after)),
  )
  if (differing.length === 0) return null
  if (added === undefined || !differing.every(isOfLargeDiscounts)) return after
  return isAdded ? { ...after, discount: added } : null
}
const ALWAYS: Rule = { type: 'ALWAYS_APPROVE' }

/** The facts that decide on a rule. What is always approved is about all of them. */
function factsFor(rule: Rule, facts: Facts): unknown {
  switch (rule.type) {
    case 'ALWAYS_APPROVE':
      return facts
    case 'DISCOUNT':
      return facts.discount
    case 'COMMITMENT':
      return facts.commitments
    case 'PRICING':
      return facts.has_override
    case 'CUSTOM_FIELD':
      return facts.custom_fields[rule.custom_field?.id ?? '']
    default:
      return facts.is_custom[DEFAULT_OF[rule.type]]
  }
}

const DEFAULT_OF = {
  BILLING_ENTITY: 'billing_entity',
  BILLING_PERIOD: 'billing_period',
  DUE_DATE: 'due_date',
  PAYMENT_ACCEPTOR: 'payment_acceptor',
} as const satisfies Record<string, Defaulted>

/** A rule has the part of its type: `checkPolicy` sees to it. */
function judge(rule: Rule, facts: Facts, convert: Convert): Judged {
  const comparator = rule.comparator ?? 'EQUALS'
  switch (rule.type) {
    case 'ALWAYS_APPROVE':
      return true
    case 'DISCOUNT': {
      const { percentage, amount } = rule.discount ?? {}
      if (amount) return largest(comparator, amount, { of: facts.discount.amounts, convert })
      const all = facts.discount.percentages.map(decimal)
      return compare(comparator, all.reduce(max, ZERO), decimal(percentage ?? '0'))
    }
    case 'COMMITMENT':
      return largest(comparator, rule.commitment?.amount ?? NOTHING, { of: facts.commitments, convert })
    case 'PRICING':
      return facts.has_override === rule.pricing?.has_override
    case 'CUSTOM_FIELD':
      return judgeField(comparator, rule.custom_field, facts)
    default: {
      const name = DEFAULT_OF[rule.type]
      const isCustom = facts.is_custom[name]
      if (isCustom !== null) return isCustom === rule[name]?.is_custom
      return { unknown: [`The platform has no default ${name.replaceAll('_', ' ')} to compare with; set one.`] }
    }
  }
}

const NOTHING: FactAmount = { quantity: '0', currency: '' }

/**
 * Compares the largest amount, which is 0 where there is none. An amount that cannot be converted may be of any size from 0 up: where the
 * result is the same for all of them, it is known.
 */
function largest(
  comparator: RuleComparator,
  bound: FactAmount,
  { of, convert }: { readonly of: readonly FactAmount[]; readonly convert: Convert },
): Judged {
  const converted = of.map(amount => ({ amount, value: convert(amount, bound.currency) }))
  const known = converted.reduce((most, { value }) => (value === null ? most : max(most, value)), ZERO)
  const missing = new Set(converted.flatMap(({ amount, value }) => (value === null ? [amount.currency] : [])))
  const limit = decimal(bound.quantity)
  const result = compare(comparator, known, limit)
  if (missing.size === 0) return result
  if (comparator.startsWith('GREATER') && result) return true
  if (comparator.startsWith('LESS') && !result) return false
  if (comparator === 'EQUALS' && known.gt(limit)) return false
  const reasons = [...missing].map(
    currency => `There is no exchange rate from ${currency} to ${bound.currency}; add one: POST /v1/exchange-rates.`,
  )
  return { unknown: reasons }
}

/** Any value of a field that has several counts. */
function judgeField(comparator: RuleComparator, rule: Rule['custom_field'], facts: Facts): Judged {
  const id = rule?.id ?? ''
  const wanted = rule?.value ?? ''
  const values = facts.custom_fields[id] ?? []
  if (values.length === 0) return { unknown: [`The custom field ${id} has no value; give it one.`] }
  // Both are stored in their canonical form.
  if (comparator === 'EQUALS') return values.includes(wanted)
  if (![wanted, ...values].every(isPlainDecimal))
    return { unknown: [`The custom field ${id} has a value that is no number; give it one.`] }
  return values.some(value => compare(comparator, decimal(value), decimal(wanted)))
}

function compare(comparator: RuleComparator, value: Decimal, bound: Decimal): boolean {
  switch (comparator) {
    case 'LESS_THAN':
      return value.lt(bound)
    case 'LESS_THAN_OR_EQUALS':
      return value.lte(bound)
    case 'EQUALS':
      return value.eq(bound)
    case 'GREATER_THAN_OR_EQUALS':
      return value.gte(bound)
    case 'GREATER_THAN':
      return value.gt(bound)
  }
}
