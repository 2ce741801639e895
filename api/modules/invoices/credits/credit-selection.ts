// Which lines of an invoice to credit, and how much of each: everything that is left, or the named periods, groups and
// lines, in full or by an amount. Pure.
import { type Decimal, decimal, sum, ZERO } from '../../../../shared/decimal.ts'
import { AppError } from '../../../../shared/errors.ts'
import { amount, toMoney } from '../../../../shared/money.ts'
import type { InvoiceContent } from '../schema.ts'
import { amountOf, type Basis, isWithin, type Share, spreadCredit } from './credit-amounts.ts'
import type { CreditBody } from './schema.ts'

/** What is left of each line of the original, by its id. */
export type Left = ReadonlyMap<string, readonly Share[]>

export type SelectionOf = {
  readonly content: InvoiceContent
  readonly left: Left
  readonly basis: Basis
  readonly currency: string
  /** The lines that credits of a wallet paid, without those that a credit note names. */
  readonly inCredits?: readonly string[]
}

type Node = { readonly amount?: { readonly quantity: string; readonly currency: string } | null }

/** What may be credited of what is left, which is below zero where the lines deduct. */
const boundsOf = (left: Decimal, currency: string): string => {
  const [side, most] = left.lt(ZERO) ? ['below', 'least'] : ['above', 'most']
  return `Give an amount ${side} zero and at ${most} ${left.toFixed()} ${currency}`
}

const refused = (field: string, message: string): AppError => new AppError('INVALID_FIELD', message, { field })

/**
 * How much of each line to credit, by its id. Throws INVALID_FIELD, with the path, for what does not exist or is not
 * left.
 */
export function selectCredit(
  of: SelectionOf,
  { periods, groups }: Pick<CreditBody, 'periods' | 'groups'>,
): Map<string, Decimal> {
  if (!groups) return selectPeriods(of, periods)
  if (periods) throw refused('groups', 'Give periods or groups, not both.')
  const { length } = of.content.periods
  if (length !== 1) throw refused('groups', `The invoice has ${length} periods: name those of the groups, in periods.`)
  try {
    return selectPeriods(of, [{ period_order: 0, groups }])
  } catch (error) {
    const field = error instanceof AppError ? error.details.field : undefined
    throw error instanceof AppError && field ? error.at(field.replace('periods.0.', '')) : error
  }
}

function selectPeriods(of: SelectionOf, periods: CreditBody['periods']): Map<string, Decimal> {
  const chosen = new Map<string, Decimal>()
  const all = of.content.periods
  if (!periods) return wholeInvoice(of)
  const put = (entries: Iterable<readonly [string, Decimal]>, path: string): void => {
    for (const [id, wanted] of entries) {
      if (chosen.has(id)) throw refused(path, 'It names a line twice.')
      chosen.set(id, wanted)
    }
  }
  for (const [p, period] of periods.entries()) {
    const path = `periods.${p}`
    const found = all[period.period_order]
    if (!found) throw refused(`${path}.period_order`, 'The invoice has no period at this place.')
    if (!period.groups) {
      put(take(of, linesIn([found]), period, path), path)
      continue
    }
    onlyOne(period, path, 'groups')
    for (const [g, group] of period.groups.entries()) {
      const inGroup = `${path}.groups.${g}`
      const foundGroup = found.groups[group.group_order]
      if (!foundGroup) throw refused(`${inGroup}.group_order`, 'The period has no group at this place.')
      if (!group.lines) {
        put(
          take(
            of,
            foundGroup.lines.map(({ id }) => id),
            group,
            inGroup,
          ),
          inGroup,
        )
        continue
      }
      onlyOne(group, inGroup, 'lines')
      for (const [l, line] of group.lines.entries()) {
        const onLine = `${inGroup}.lines.${l}`
        const foundLine = foundGroup.lines[line.line_order]
        if (!foundLine) throw refused(`${onLine}.line_order`, 'The group has no line at this place.')
        put(take(of, [foundLine.id], line, onLine), onLine)
      }
    }
  }
  return chosen
}

function wholeInvoice(of: SelectionOf): Map<string, Decimal> {
  const left = whole(of, linesIn(of.content.periods))
  if (left.length > 0) return new Map(left)
  throw new AppError('INVALID_OPERATION', 'Nothing is left to credit.', { field: 'periods' })
}

const linesIn = (periods: InvoiceContent['periods']): string[] =>
  periods.flatMap(({ groups }) => groups.flatMap(({ lines }) => lines.map(({ id }) => id)))

function onlyOne(node: Node, path: string, parts: string): void {
  if (node.amount) throw refused(`${path}.amount`, `Give an amount here or on its ${parts}, not both.`)
}

const leftOf = ({ left, basis }: SelectionOf, id: string): Decimal => amountOf(left.get(id) ?? [], basis)

/** What is left of these lines; 0 of one that credits paid, which goes back by its name on the credit note. */
const whole = (of: SelectionOf, ids: readonly string[]): [string, Decimal][] =>
  ids.flatMap(id => {
    const left = leftOf(of, id)
    return left.eq(ZERO) && !of.inCredits?.includes(id) ? [] : [[id, left] as [string, Decimal]]
  })

/** Everything left of these lines, or the given amount divided over them. */
function take(of: SelectionOf, ids: readonly string[], { amount: given }: Node, path: string): [string, Decimal][] {
  const lines = whole(of, ids)
  const left = sum(lines.map(([, each]) => each))
  if (lines.length === 0) throw refused(path, 'Nothing of it is left to credit.')
  if (!given) return lines
  const field = `${path}.amount`
  if (given.currency !== of.currency) throw refused(`${field}.currency`, `The invoice is in ${of.currency}.`)
  const wanted = decimal(given.quantity)
  if (!toMoney(amount(wanted, of.currency)).quantity.eq(wanted))
    throw refused(`${field}.quantity`, `${of.currency} does not have that many decimal places.`)
  if (!isWithin(wanted, left))
    throw refused(`${field}.quantity`, `${boundsOf(left, of.currency)}, which is what is left to credit here.`)
  if (wanted.eq(left)) return lines
  const parts = spreadCredit(
    wanted,
    lines.map(([, each]) => each),
    of.currency,
  )
  return lines.flatMap(([id], index) => {
    const part = parts[index] ?? ZERO
    return part.eq(ZERO) ? [] : [[id, part] as [string, Decimal]]
  })
}
