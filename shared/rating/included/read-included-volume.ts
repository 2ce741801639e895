// Reads the included volume of a price from its wire shape (semantics 3.3). A fault names its field.
import { type Decimal, decimal, isPlainDecimal, ZERO } from '../../decimal.ts'
import { Fault, type MeterValueInput, type ReadingContext } from '../parse/band-reader.ts'
import { INCLUDED_VOLUME_RESETS, type IncludedVolumeReset } from './included-volume.ts'
import type { IncludedTerms } from './included-windows.ts'

type Given<Value> = Value | null | undefined
/** `number` where numbers are metered; `amount`, `count` or both where money is metered. */
export type IncludedVolumeInput = MeterValueInput & { readonly reset_type?: Given<string> }

const FIELD = 'default_included_volume'

function readQuantity(field: string, text: Given<string>): Decimal {
  if (text === null || text === undefined) return ZERO
  if (!isPlainDecimal(text)) throw new Fault(field, `${field} must be a decimal of at most 26 and 12 digits.`)
  const value = decimal(text)
  if (value.lte(ZERO)) throw new Fault(field, 'An included volume must be greater than 0.')
  return value
}

function readReset(text: Given<string>): IncludedVolumeReset {
  const reset = INCLUDED_VOLUME_RESETS.find(known => known === (text ?? 'BILLING_PERIOD'))
  if (reset) return reset
  throw new Fault(`${FIELD}.reset_type`, `reset_type is one of ${INCLUDED_VOLUME_RESETS.join(', ')}.`)
}

/**
 * What is free, and when it is granted again. Throws Fault when the volume does not match the metric, or when none is
 * given.
 */
export function readIncludedVolume(
  input: IncludedVolumeInput,
  { metric, currency }: ReadingContext,
  rollover: boolean,
): IncludedTerms {
  const odd = metric === 'NUMBER' ? (['amount', 'count'] as const) : (['number'] as const)
  const extra = odd.find(name => input[name] !== null && input[name] !== undefined)
  if (extra) {
    const wanted =
      metric === 'NUMBER' ? 'The metric counts numbers: give number' : 'The metric is money: give amount or count'
    throw new Fault(`${FIELD}.${extra}`, `${wanted}.`)
  }
  if (input.amount && input.amount.currency !== currency) {
    throw new Fault(`${FIELD}.amount.currency`, `The price is in ${currency}, so what is included must be too.`)
  }
  const quantity =
    metric === 'NUMBER'
      ? readQuantity(`${FIELD}.number`, input.number)
      : readQuantity(`${FIELD}.amount.quantity`, input.amount?.quantity)
  const count = readQuantity(`${FIELD}.count`, input.count)
  if (quantity.eq(ZERO) && count.eq(ZERO)) {
    const wanted = metric === 'NUMBER' ? 'number' : 'amount or count'
    throw new Fault(FIELD, `An included volume needs its ${wanted}; leave ${FIELD} out when nothing is included.`)
  }
  return { included: { quantity, count }, reset: readReset(input.reset_type), rollover }
}
