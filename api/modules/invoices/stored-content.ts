// The content of an invoice as it is stored. Its periods are nearly all of its size, and no statement looks into them. Where they are
// long they are one packed text: PostgreSQL would take ten times as long to parse and compress them.
import { isDeepStrictEqual } from 'node:util'
import { customType } from 'drizzle-orm/pg-core'
import { NO_MEMBERS } from '../../../shared/extended.ts'
import { packJson, unpackedJson, unpackJson } from '../../../shared/json/packed-json.ts'
import type { InvoiceContent, TaxShareView } from './schema.ts'

type Periods = InvoiceContent['periods']

/** How tax is shown on each period, on its groups and on their lines. */
export type TaxShares = readonly {
  readonly tax_categories: TaxShareView[]
  readonly groups: readonly {
    readonly tax_categories: TaxShareView[]
    readonly lines: readonly TaxShareView[][]
  }[]
}[]

type Stored = {
  /** A text where they are packed. */
  readonly periods: Periods | string
  /** What packed periods of a FINAL invoice show of their tax now: the text itself never changes (`protect_final_invoice`). */
  readonly tax_shares?: TaxShares
}

/** What a statement asks of packed periods: whether credits paid usage. */
const PAID_BY_CREDITS = 'paid_by_credits'

/** How these very periods are stored: those of a FINAL invoice must keep their form, whatever else of its content changes. */
const storedAs = new WeakMap<Periods, Stored>()

/** The periods with other shares of tax; those of a stored invoice remain stored as they are, with the shares beside them. */
export function withTaxShares(periods: Periods, shares: TaxShares): Periods {
  const made = periods.map((period, place) => {
    const own = shares[place]
    if (!own) return period
    const groups = period.groups.map((group, at) => {
      const { tax_categories = group.tax_categories, lines = [] } = own.groups[at] ?? {}
      const shown = group.lines.map((line, order) => ({ ...line, tax_categories: lines[order] ?? line.tax_categories }))
      return { ...group, tax_categories, lines: shown }
    })
    return { ...period, tax_categories: own.tax_categories, groups }
  })
  const before = storedAs.get(periods)
  if (before)
    storedAs.set(made, typeof before.periods === 'string' ? { ...before, tax_shares: shares } : { periods: made })
  return made
}

const isPaidByCredits = (periods: Periods): boolean =>
  periods.some(({ groups }) =>
    groups.some(({ lines }) => lines.some(({ details }) => (details.wallet_balances ?? []).length > 0)),
  )

/** The JSON that is stored of it. */
export function storedContent({ periods, ...content }: InvoiceContent): string {
  const stored = storedAs.get(periods) ?? { periods: packJson(jsonOf(periods)) ?? periods }
  storedAs.set(periods, stored)
  const marked = typeof stored.periods === 'string' && isPaidByCredits(periods) ? { [PAID_BY_CREDITS]: true } : {}
  return JSON.stringify({ ...NO_MEMBERS, ...content, ...marked, ...stored })
}

/** The content of what is stored of it, which a list reads without its periods. */
export function contentOf(value: unknown): InvoiceContent {
  // Written by `storedContent`, or by the program before it.
  const stored = value as Omit<InvoiceContent, 'periods'> & Partial<Stored> & { [PAID_BY_CREDITS]?: true }
  // As a list reads nearly all of them: they need no copy.
  if (!('periods' in stored || 'tax_shares' in stored || PAID_BY_CREDITS in stored)) return stored as InvoiceContent
  const { periods, tax_shares, [PAID_BY_CREDITS]: marked, ...content } = stored
  if (periods === undefined) return content as InvoiceContent
  const read = (): Periods => {
    const found = typeof periods === 'string' ? (unpackJson(periods) as Periods) : periods
    storedAs.set(found, { periods })
    return tax_shares ? withTaxShares(found, tax_shares) : found
  }
  if (typeof periods !== 'string') return { ...content, periods: read() }
  // Unpacked when it is first read: an OPEN invoice that is computed again is mostly replaced without that.
  let known: Periods | undefined
  const made: InvoiceContent = {
    ...content,
    get periods() {
      known ??= read()
      return known
    },
  }
  if (!tax_shares)
    packed.set(made, {
      others: content,
      text: periods,
      isRead: () => known !== undefined,
      use: same => {
        storedAs.set(same, { periods })
        known = same
      },
    })
  if (!marked) unpaid.add(made)
  return made
}

type Packed = {
  /** The content without its periods. */
  readonly others: object
  readonly text: string
  isRead(): boolean
  /** Uses these periods, which are equal, instead of unpacking the text. */
  use(periods: Periods): void
}

/** Stored content whose periods are packed, by the content as it was read. */
const packed = new WeakMap<object, Packed>()

/** The JSON of periods that were compared, until they are stored. */
const compared = new WeakMap<Periods, string>()
const jsonOf = (periods: Periods): string => compared.get(periods) ?? JSON.stringify(periods)

/**
 * Whether computed content equals stored content. Packed periods are compared as JSON text, since equal ones nearly always have the same
 * text. To compare their values costs several times as much.
 */
export function isSameContent(content: InvoiceContent, stored: InvoiceContent): boolean {
  const known = packed.get(stored)
  if (content === stored || !known || known.isRead()) return isDeepStrictEqual(content, stored)
  const { periods, ...others } = content
  if (!isDeepStrictEqual(others, known.others)) return false
  const json = JSON.stringify(periods)
  const was = unpackedJson(known.text)
  if (json === was) known.use(periods)
  else compared.set(periods, json)
  // The same members in another order are as long.
  return json === was || (json.length === was.length && isDeepStrictEqual(periods, stored.periods))
}

/** Those that were read, of whose lines no wallet pays any: known without unpacking them. */
const unpaid = new WeakSet<object>()

/** Whether wallets may have paid of its lines. */
export const mayBePaidByWallets = (content: object): boolean => !unpaid.has(content)

/** Whether wallets pay of its lines. Content that was read is not unpacked where none does. */
export const isPaidByWallets = (content: InvoiceContent): boolean =>
  mayBePaidByWallets(content) && isPaidByCredits(content.periods)

/** The column of it. */
export const invoiceContent = customType<{ data: InvoiceContent; driverData: unknown }>({
  dataType: () => 'jsonb',
  toDriver: storedContent,
  fromDriver: contentOf,
})
