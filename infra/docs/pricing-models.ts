// docs/pricing-models.md, read: each example of a price with the figures it promises, and the picture that belongs to it.
import { readFileSync } from 'node:fs'
import { type Decimal, decimal, ZERO } from '../../shared/decimal.ts'
import { applyIncludedVolume } from '../../shared/rating/included/included-volume.ts'
import { parsePriceConfig } from '../../shared/rating/parse/parse-price-config.ts'
import { amountVolume, numberVolume } from '../../shared/rating/price.ts'
import { type PriceConfig, type RatedPrice, rate } from '../../shared/rating/rate.ts'
import { oneEvent, rateEvents } from '../../shared/rating/rate-events.ts'

export const PRICING_PAGE = 'docs/pricing-models.md'

/** One row of a table of figures, by the heading of each column. */
export type Row = Readonly<Record<string, string>>
export type Example = {
  readonly title: string
  readonly json: Record<string, unknown>
  readonly price: PriceConfig
  readonly onMoney: boolean
  readonly rows: readonly Row[]
  /** Path of the picture, from the folder of the page; null where the section has none. */
  readonly picture: string | null
}

/** The sections of the page that hold an example. Throws when one cannot be read as a price. */
export function readExamples(): Example[] {
  const sections = readFileSync(PRICING_PAGE, 'utf8').split('\n## ').slice(1)
  return sections.flatMap(section => {
    const source = /```json\n([\s\S]*?)```/.exec(section)?.[1]
    return source === undefined ? [] : [exampleOf(section, JSON.parse(source))]
  })
}

function exampleOf(section: string, json: Record<string, unknown> & { pricing_type: string }): Example {
  const [title = ''] = section.split('\n')
  const rows = rowsOf(section)
  const onMoney = rows.some(row => row['money'] !== undefined)
  const reading = parsePriceConfig(json, { metric: onMoney ? 'AMOUNT' : 'NUMBER', currency: 'EUR' })
  if (reading.kind === 'fault') throw new Error(`${title}: ${reading.fault.field}: ${reading.fault.message}`)
  const picture = /!\[[^\]]+\]\(([^)]+)\)/.exec(section)?.[1] ?? null
  return { title, json, price: reading.config, onMoney, rows, picture }
}

function rowsOf(section: string): Row[] {
  const cellsOf = (line: string) =>
    line
      .split('|')
      .slice(1, -1)
      .map(cell => cell.trim())
  const lines = section.split('\n').filter(line => line.startsWith('| '))
  const [headings = [], ...rows] = lines.map(cellsOf)
  return rows.map(cells => Object.fromEntries(headings.map((heading, index) => [heading, cells[index] ?? ''])))
}

/** A figure as the page writes it: `1,000.5`. */
export const figure = (text: string | undefined): Decimal => decimal((text ?? '0').replaceAll(',', ''))

/** What the product charges for the usage of a row. */
export function rateRow({ price, onMoney }: Example, row: Row): RatedPrice {
  const events = figure(row['events'])
  const volume = onMoney
    ? amountVolume(figure(row['money']), price.currency, events)
    : numberVolume(figure(row['usage']), events)
  if (price.perEvent) {
    const each = events.eq(ZERO) ? [] : [{ each: oneEvent(volume, volume.quantity.div(events)), times: events }]
    return rateEvents(price, each, volume)
  }
  const billable = price.included ? applyIncludedVolume(volume, price.included.included).billable : volume
  return rate(price, billable, { prior: { rollover: figure(row['carried in']) } })
}

/** The charge for a usage that nothing was carried into. */
export const chargeAt = (price: PriceConfig, usage: Decimal): Decimal =>
  rate(price, numberVolume(usage), { prior: { rollover: ZERO } }).total.quantity
