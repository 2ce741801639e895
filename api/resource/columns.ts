// Columns every tenant table shares, and column types whose values are already what the wire shows.

import { customType, jsonb, text } from 'drizzle-orm/pg-core'
import type { Id } from '../../shared/ids.ts'
import { formatInstant, instantOf } from '../../shared/time.ts'

/** As the database writes a time of its own zone, which is UTC, in years of four digits. */
const STORED_TIME = /^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?\+00$/

/** A stored time as its wire text. A page has hundreds of them, so the common form is cut and not computed. */
export function storedTimeText(value: string | Date): string {
  if (typeof value === 'string' && STORED_TIME.test(value)) return `${value.slice(0, 10)}T${value.slice(11, 19)}Z`
  return formatInstant(instantOf(value instanceof Date ? value.getTime() : Date.parse(value)))
}

/** timestamptz as its wire text, `2026-01-31T00:00:00Z`. */
export const timestamp = customType<{ data: string; driverData: string | Date }>({
  dataType: () => 'timestamptz',
  fromDriver: storedTimeText,
})

/** numeric as its text: a decimal never becomes a float. */
export const decimalText = customType<{ data: string; driverData: string }>({ dataType: () => 'numeric' })

/** jsonb that holds a wire shape. */
export const wireJson = <T>() => jsonb().$type<T>()

export const tenantColumns = <Prefix extends string = string>() => ({
  platform_id: text().notNull(),
  environment: text().$type<'TEST' | 'LIVE'>().notNull(),
  id: text().$type<string extends Prefix ? string : Id<Prefix>>().notNull(),
  created_at: timestamp().notNull(),
  updated_at: timestamp().notNull(),
})
