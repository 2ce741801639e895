// The entries of a scanned event against what its meter lists: which stands at which place, and whether each may.
import { isCurrency as isCurrencyCode } from '../../../shared/codes/iso-codes.ts'
import { type AsciiText, type Input, isTextAt } from './bytes.ts'
import type { MeterBytes } from './meter-bytes.ts'
import { type EntrySpans, type EventSpans, NOT_FAST_PATH, SPAN_WORDS } from './scan-event.ts'
import { currencySlot, propertySlot, quantitySlot } from './shape.ts'
import type { Slots } from './slots.ts'

/**
 * Puts the values and properties of the event into their slots. Returns which there are, as MeterBytes.shapes wants it, or
 * NOT_FAST_PATH when parse.ts must look: one is missing, mistyped, unlisted or repeated.
 */
export function resolveEntries(input: Input, spans: EventSpans, meter: MeterBytes, slots: Slots): number {
  const { values, properties } = meter
  let mask = spans.customerIsId ? 1 << (values.length + properties.length) : 0
  mask = placeValues(input, spans.values, meter, slots, mask)
  return mask < 0 ? NOT_FAST_PATH : placeProperties(input, spans.properties, meter, slots, mask)
}

function placeValues(input: Input, list: EntrySpans, { values }: MeterBytes, slots: Slots, before: number): number {
  const { spans } = list
  let mask = before
  for (let each = 0; each < list.count; each += 1) {
    const at = each * SPAN_WORDS
    const place = placeOf(input, list, each, values)
    const value = values[place]?.value
    if (value === undefined || (mask & (1 << place)) !== 0) return NOT_FAST_PATH
    mask |= 1 << place
    const start = spans[at + 2] ?? 0
    const end = spans[at + 3] ?? 0
    if (!isDecimal(input.bytes, start, end)) return NOT_FAST_PATH
    slots.put(quantitySlot(place), start, end)
    const currencyEnd = spans[at + 5] ?? 0
    if (value.type === 'AMOUNT') {
      const currency = spans[at + 4] ?? 0
      if (!isCurrency(input.bytes, currency, currencyEnd)) return NOT_FAST_PATH
      slots.put(currencySlot(place), currency, currencyEnd)
    } else if (currencyEnd !== 0) return NOT_FAST_PATH
  }
  for (let place = 0; place < values.length; place += 1) {
    if (values[place]?.value.required && (mask & (1 << place)) === 0) return NOT_FAST_PATH
  }
  return mask
}

function placeProperties(
  input: Input,
  list: EntrySpans,
  { values, properties }: MeterBytes,
  slots: Slots,
  before: number,
): number {
  const { spans } = list
  const first = values.length
  let mask = before
  for (let each = 0; each < list.count; each += 1) {
    const at = each * SPAN_WORDS
    const place = placeOf(input, list, each, properties)
    const property = properties[place]?.property
    if (property === undefined || (mask & (1 << (first + place))) !== 0) return NOT_FAST_PATH
    mask |= 1 << (first + place)
    const start = spans[at + 2] ?? 0
    const end = spans[at + 3] ?? 0
    if (property.type === 'NUMBER' && !isDecimal(input.bytes, start, end)) return NOT_FAST_PATH
    if (property.type === 'ENUM' && !property.enumValues.has(input.text(start, end))) return NOT_FAST_PATH
    slots.put(propertySlot(first, place), start, end)
  }
  for (let place = 0; place < properties.length; place += 1) {
    if (properties[place]?.property.required && (mask & (1 << (first + place))) === 0) return NOT_FAST_PATH
  }
  return mask
}

type Entries = readonly { readonly reference: AsciiText }[]

/** The place in `entries` of the entry at `each` of the list, or -1. */
function placeOf({ view }: Input, { spans }: EntrySpans, each: number, entries: Entries): number {
  const start = spans[each * SPAN_WORDS] ?? 0
  const length = (spans[each * SPAN_WORDS + 1] ?? 0) - start
  // Senders most often write the entries in the order in which the meter lists them.
  const likely = entries[each]?.reference
  if (likely !== undefined && likely.length === length && isTextAt(view, start, likely)) return each
  return entries.findIndex(({ reference }) => reference.length === length && isTextAt(view, start, reference))
}

const MINUS = 0x2d
const POINT = 0x2e
const WHOLE_DIGITS_MAX = 26
const FRACTION_DIGITS_MAX = 12

/** As isPlainDecimal. */
export function isDecimal(bytes: Uint8Array, start: number, end: number): boolean {
  const first = bytes[start] === MINUS ? start + 1 : start
  const point = endOfDigits(bytes, first)
  if (point === first || point - first > WHOLE_DIGITS_MAX) return false
  if (point === end) return true
  const last = endOfDigits(bytes, point + 1)
  return bytes[point] === POINT && last === end && last > point + 1 && last - point - 1 <= FRACTION_DIGITS_MAX
}

function endOfDigits(bytes: Uint8Array, start: number): number {
  let at = start
  while (((bytes[at] ?? 0) ^ 0x30) <= 9) at += 1
  return at
}

export function isCurrency(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start !== 3) return false
  return isCurrencyCode(String.fromCharCode(bytes[start] ?? 0, bytes[start + 1] ?? 0, bytes[start + 2] ?? 0))
}
