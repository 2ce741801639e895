// Texts that say how a value is written, and nothing of what it is.
import { NOT_BY_CURSOR } from '../../http/pagination.ts'
import { RANGE_TEXT } from '../../list/list-spec.ts'
import { Country, Currency, DecimalText, LocalDay, Reference, Timestamp, TimeZone } from '../../resource/shapes.ts'

/** What shapes say of their form wherever they are used. */
export const FORMS: ReadonlySet<string> = new Set([
  ...[Timestamp, DecimalText, Reference, Currency, Country, TimeZone, LocalDay].flatMap(shape =>
    'description' in shape ? [String(shape.description)] : [],
  ),
  NOT_BY_CURSOR,
  RANGE_TEXT,
])
