// Columns every tenant table shares, and column types whose values are already what the wire shows.
import { customType, jsonb, text } from 'drizzle-orm/pg-core'
import { formatInstant, instantOf } from '../../shared/time.ts'

/** timestamptz as its wire text, `2026-01-31T00:00:00Z`. */
export const timestamp = customType<{ data: string; driverData: string | Date }>({
  dataType: () => 'timestamptz',
  fromDriver: value => formatInstant(instantOf(value instanceof Date ? value.getTime() : Date.parse(value))),
})

/** numeric as its text: a decimal never becomes a float. */
export const decimalText = customType<{ data: string; driverData: string }>({ dataType: () => 'numeric' })

/** jsonb that holds a wire shape. */
export const wireJson = <T>() => jsonb().$type<T>()

export const tenantColumns = () => ({
  platform_id: text().notNull(),
  environment: text().$type<'TEST' | 'LIVE'>().notNull(),
  id: text().notNull(),
  created_at: timestamp().notNull(),
  updated_at: timestamp().notNull(),
})
