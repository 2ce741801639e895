// Events that look like one before them. A sender's program writes the same bytes again and again, with a few texts that
// change between them: what lay between these texts in an event that was read and found right is compared as a whole, and
// only the texts themselves are looked at. It takes nothing that scan-event.ts and resolve.ts would not take, or otherwise.
import type { MeterSet } from '../parse/meter.ts'
import { PROPERTY_VALUE_MAX, REFERENCE_MAX } from '../parse/reading.ts'
import { type Input, isPieceAt, Piece } from './bytes.ts'
import type { MeterBytes } from './meter-bytes.ts'
import { isCurrency, isDecimal } from './resolve.ts'
import { type EventSpans, endOfText, NOT_COMMON } from './scan-event.ts'
import { CUSTOMER, currencySlot, propertySlot, quantitySlot, REFERENCE, TIMESTAMP } from './shape.ts'
import type { Slots } from './slots.ts'

/** What events of one look have in common. */
export type EventLayout = {
  readonly meter: MeterBytes
  /** Which entries they have, as resolve.ts tells it. */
  readonly mask: number
}

export type Familiar = {
  /** The look of the event at `start`; its texts are then in the slots, its timestamp in the spans, and its end in `end`. */
  find(start: number, meters: MeterSet): EventLayout | null
  /** Where the event found last ends. */
  readonly end: number
  /** Remembers how the event from `start` to `end` looked, whose texts the long way put into the slots and spans. */
  learn(start: number, end: number, look: EventLayout): void
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
type Known = EventLayout & { readonly pieces: readonly Piece[]; readonly texts: readonly Text[] }

/** Looks remembered, the one met last first. */
const KNOWN_MAX = 4
/** Events read the long way before another look is learned: senders that never look the same pay next to nothing. */
const LEARN_EVERY = 32

/** Reads with `input`, `spans` and `slots`, which it shares with the long way. */
export function createFamiliar({ input, spans, slots }: { input: Input; spans: EventSpans; slots: Slots }): Familiar {
  const known: Known[] = []
  let unknown = LEARN_EVERY - 1

  /** Where the text that starts at `at` ends, or NOT_COMMON. */
  const endOf = ({ kind, enumValues }: Text, at: number): number => {
    const { bytes } = input
    const end = endOfText(bytes, at, kind === VALUE ? PROPERTY_VALUE_MAX : REFERENCE_MAX)
    if (end < 0) return NOT_COMMON
    if (kind === NAME && end === at) return NOT_COMMON
    if (kind === DECIMAL && !isDecimal(bytes, at, end)) return NOT_COMMON
    if (kind === CURRENCY && !isCurrency(bytes, at, end)) return NOT_COMMON
    return enumValues === null || enumValues.has(input.text(at, end)) ? end : NOT_COMMON
  }

  const isAt = (piece: Piece | undefined, at: number): piece is Piece =>
    piece !== undefined && at + piece.length <= input.length && isPieceAt(input.view, at, piece)

  /** The end of the event at `start`, or NOT_COMMON when it looks otherwise. */
  const match = ({ pieces, texts }: Known, start: number): number => {
    spans.timestampEnd = 0
    let at = start
    for (let each = 0; each < texts.length; each += 1) {
      const piece = pieces[each]
      const text = texts[each]
      if (text === undefined || !isAt(piece, at)) return NOT_COMMON
      at += piece.length
      const end = endOf(text, at)
      if (end < 0) return NOT_COMMON
      if (text.kind === TIME) {
        spans.timestamp = at
        spans.timestampEnd = end
      } else {
        slots.put(text.slot, at, end)
      }
      at = end
    }
    const last = pieces[texts.length]
    return isAt(last, at) ? at + last.length : NOT_COMMON
  }

  const familiar = {
    end: 0,
    find: (start: number, meters: MeterSet): EventLayout | null => {
      for (let each = 0; each < known.length; each += 1) {
        const look = known[each]
        // A meter that changed is another object, and one of another tenant too.
        if (look === undefined || meters.byReference.get(look.meter.meter.reference) !== look.meter.meter) continue
        familiar.end = match(look, start)
        if (familiar.end < 0) continue
        if (each > 0) known.unshift(...known.splice(each, 1))
        return look
      }
      return null
    },
    learn: (start: number, end: number, look: EventLayout): void => {
      unknown += 1
      if (unknown < LEARN_EVERY) return
      unknown = 0
      known.unshift(lookOf(start, end, look))
      known.length = Math.min(known.length, KNOWN_MAX)
    },
  }
  return familiar

  function lookOf(start: number, end: number, look: EventLayout): Known {
    const texts = textsOf(look).sort((a, b) => a.start - b.start)
    const pieces: Piece[] = []
    let at = start
    for (const text of texts) {
      pieces.push(new Piece(input.text(at, text.start)))
      at = text.end
    }
    return { ...look, pieces: [...pieces, new Piece(input.text(at, end))], texts }
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
