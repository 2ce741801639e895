// A cache of event layouts. A sender's program writes the same bytes again and again, with a few texts that
// change between them: what lay between these texts in an event that was read and found right is compared as a whole, and
// only the texts themselves are looked at. It takes nothing that scan-event.ts and resolve-entries.ts would not take, or otherwise.
import type { MeterSet } from '../parse/meter.ts'
import { PROPERTY_VALUE_MAX, REFERENCE_MAX } from '../parse/reading.ts'
import { AsciiText, type Input, isTextAt } from './bytes.ts'
import type { MeterBytes } from './meter-bytes.ts'
import { isCurrency, isDecimal } from './resolve-entries.ts'
import { type EventSpans, endOfText, NOT_FAST_PATH } from './scan-event.ts'
import { CUSTOMER, currencySlot, propertySlot, quantitySlot, REFERENCE, TIMESTAMP } from './shape.ts'
import type { Slots } from './slots.ts'

/** What events of one layout have in common. */
export type EventLayout = {
  readonly meter: MeterBytes
  /** Which entries they have, as resolve-entries.ts returns it. */
  readonly mask: number
}

export type LayoutCache = {
  /** The cached layout of the event at `start`; its texts are then in the slots, its timestamp in the spans, and its end in `end`. */
  find(start: number, meters: MeterSet): EventLayout | null
  /** Where the event found last ends. */
  readonly end: number
  /** Caches the layout of the event from `start` to `end`, whose texts the full scan put into the slots and spans. */
  learn(start: number, end: number, layout: EventLayout): void
}

const NAME = 0
const VALUE = 1
const DECIMAL = 2
const CURRENCY = 3
const TIME = 4

/** A text that changes: where it goes, and what it must be. */
type Text = {
  readonly slot: number
  readonly kind: typeof NAME | typeof VALUE | typeof DECIMAL | typeof CURRENCY | typeof TIME
  readonly enumValues: ReadonlySet<string> | null
}
/** The pieces stand before the texts, and one after the last. */
type Known = EventLayout & { readonly pieces: readonly AsciiText[]; readonly texts: readonly Text[] }

/** Layouts cached, the one met last first. */
const KNOWN_MAX = 4
/** Events scanned in full before another layout is learned: senders whose layout never repeats pay next to nothing. */
const LEARN_EVERY = 32

/** Reads with `input`, `spans` and `slots`, which it shares with the full scan. */
export function createLayoutCache({
  input,
  spans,
  slots,
}: {
  input: Input
  spans: EventSpans
  slots: Slots
}): LayoutCache {
  const known: Known[] = []
  let unknown = LEARN_EVERY - 1

  /** Where the text that starts at `at` ends, or NOT_FAST_PATH. */
  const endOf = ({ kind, enumValues }: Text, at: number): number => {
    const { bytes } = input
    const end = endOfText(bytes, at, kind === VALUE ? PROPERTY_VALUE_MAX : REFERENCE_MAX)
    if (end < 0) return NOT_FAST_PATH
    if (kind === NAME && end === at) return NOT_FAST_PATH
    if (kind === DECIMAL && !isDecimal(bytes, at, end)) return NOT_FAST_PATH
    if (kind === CURRENCY && !isCurrency(bytes, at, end)) return NOT_FAST_PATH
    return enumValues === null || enumValues.has(input.text(at, end)) ? end : NOT_FAST_PATH
  }

  const isAt = (piece: AsciiText | undefined, at: number): piece is AsciiText =>
    piece !== undefined && at + piece.length <= input.length && isTextAt(input.view, at, piece)

  /** The end of the event at `start`, or NOT_FAST_PATH when its layout is another. */
  const match = ({ pieces, texts }: Known, start: number): number => {
    spans.timestampEnd = 0
    let at = start
    for (let each = 0; each < texts.length; each += 1) {
      const piece = pieces[each]
      const text = texts[each]
      if (text === undefined || !isAt(piece, at)) return NOT_FAST_PATH
      at += piece.length
      const end = endOf(text, at)
      if (end < 0) return NOT_FAST_PATH
      if (text.kind === TIME) {
        spans.timestamp = at
        spans.timestampEnd = end
      } else {
        slots.put(text.slot, at, end)
      }
      at = end
    }
    const last = pieces[texts.length]
    return isAt(last, at) ? at + last.length : NOT_FAST_PATH
  }

  const cache = {
    end: 0,
    find: (start: number, meters: MeterSet): EventLayout | null => {
      for (let each = 0; each < known.length; each += 1) {
        const layout = known[each]
        // A meter that changed is another object, and one of another tenant too.
        if (layout === undefined || meters.byReference.get(layout.meter.meter.reference) !== layout.meter.meter)
          continue
        cache.end = match(layout, start)
        if (cache.end < 0) continue
        if (each > 0) known.unshift(...known.splice(each, 1))
        return layout
      }
      return null
    },
    learn: (start: number, end: number, layout: EventLayout): void => {
      unknown += 1
      if (unknown < LEARN_EVERY) return
      unknown = 0
      known.unshift(templateOf(start, end, layout))
      known.length = Math.min(known.length, KNOWN_MAX)
    },
  }
  return cache

  function templateOf(start: number, end: number, layout: EventLayout): Known {
    const texts = textsOf(layout).sort((a, b) => a.start - b.start)
    const pieces: AsciiText[] = []
    let at = start
    for (const text of texts) {
      pieces.push(new AsciiText(input.text(at, text.start)))
      at = text.end
    }
    return { ...layout, pieces: [...pieces, new AsciiText(input.text(at, end))], texts }
  }

  function textsOf({ meter: { values, properties }, mask }: EventLayout): (Text & { start: number; end: number })[] {
    const found: (Text & { start: number; end: number })[] = []
    const take = (slot: number, kind: Text['kind'], enumValues: Text['enumValues'] = null): void => {
      const start = slots.starts[slot] ?? 0
      found.push({ slot, kind, enumValues, start, end: start + (slots.lengths[slot] ?? 0) })
    }
    take(REFERENCE, NAME)
    take(CUSTOMER, NAME)
    if (spans.timestampEnd > 0) {
      found.push({ slot: TIMESTAMP, kind: TIME, enumValues: null, start: spans.timestamp, end: spans.timestampEnd })
    }
    for (const [place, { value }] of values.entries()) {
      if ((mask & (1 << place)) === 0) continue
      take(quantitySlot(place), DECIMAL)
      if (value.type === 'AMOUNT') take(currencySlot(place), CURRENCY)
    }
    for (const [place, { property }] of properties.entries()) {
      if ((mask & (1 << (values.length + place))) === 0) continue
      const kind = property.type === 'NUMBER' ? DECIMAL : VALUE
      take(propertySlot(values.length, place), kind, property.type === 'ENUM' ? property.enumValues : null)
    }
    return found
  }
}
