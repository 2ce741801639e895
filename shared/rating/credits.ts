// Prices in credits: a band says `credits` where another band says `amount` (semantics 3.2, 6). They have a type of
// their own, so that credits can never be billed as money.
import { type Decimal, decimalOfInteger } from '../decimal.ts'
import { type BandInput, Fault } from './parse/band-reader.ts'
import { type PriceConfigFault, type PriceConfigInput, parsePriceConfig } from './parse/parse-price-config.ts'
import { numberVolume } from './price.ts'
import { type PriceConfig, type RatedPrice, type RateOptions, rate } from './rate.ts'

type CreditsInput = { readonly quantity: string; readonly credit_type_id: string }
type CreditsBandInput = Omit<BandInput, 'credits'> & { readonly credits?: CreditsInput | null | undefined }
export type CreditsConfigInput = Omit<PriceConfigInput, 'bands'> & {
  readonly bands?: readonly CreditsBandInput[] | null | undefined
  readonly billing_period?: unknown
  readonly pricing_period?: unknown
}
export type CreditsPrice = { readonly creditTypeId: string; readonly config: PriceConfig }
export type CreditsReading =
  | { readonly kind: 'ok'; readonly price: CreditsPrice }
  | { readonly kind: 'fault'; readonly fault: PriceConfigFault }

const MONEY = ['amount', 'fixed_amount', 'minimum_amount', 'maximum_amount', 'percentage'] as const

/** Whether any band is priced in credits. */
export const isInCredits = ({ bands }: Pick<CreditsConfigInput, 'bands'>): boolean =>
  (bands ?? []).some(({ credits }) => credits !== null && credits !== undefined)

/** The credit type that a price in credits names first; null for a price in money. */
export const creditTypeOf = ({ bands }: Pick<CreditsConfigInput, 'bands'>): string | null =>
  (bands ?? []).flatMap(({ credits }) => credits?.credit_type_id ?? [])[0] ?? null

function creditsOf(bands: readonly CreditsBandInput[]): { creditTypeId: string; bands: BandInput[] } {
  let creditTypeId: string | null = null
  const read = bands.map(({ credits, ...band }, index): BandInput => {
    const money = MONEY.find(name => band[name] !== null && band[name] !== undefined)
    if (money) throw new Fault(`bands.${index}.${money}`, 'One price is in credits or in money, not in both.')
    if (!credits) throw new Fault(`bands.${index}.credits`, 'Every band of a price in credits says its credits.')
    creditTypeId ??= credits.credit_type_id
    if (credits.credit_type_id !== creditTypeId) {
      throw new Fault(`bands.${index}.credits.credit_type_id`, 'One price is in credits of one type.')
    }
    return { ...band, amount: { quantity: credits.quantity, currency: credits.credit_type_id } }
  })
  if (creditTypeId === null) throw new Fault('bands', 'A price in credits needs at least one band.')
  return { creditTypeId, bands: read }
}

/** A price in credits has no periods of its own: those of the item that sells the credits apply (contract). */
function checkPeriods(input: CreditsConfigInput): void {
  for (const name of ['billing_period', 'pricing_period'] as const) {
    if (input[name] === null || input[name] === undefined) continue
    throw new Fault(name, `A price in credits takes its ${name} from the item that sells the credits; leave it out.`)
  }
}

/** Reads and checks a price in credits of metered numbers; names the field at fault. */
export function parseCreditsPrice(input: CreditsConfigInput): CreditsReading {
  try {
    checkPeriods(input)
    const { creditTypeId, bands } = creditsOf(input.bands ?? [])
    const reading = parsePriceConfig({ ...input, bands }, { metric: 'NUMBER', currency: creditTypeId })
    if (reading.kind === 'ok') return { kind: 'ok', price: { creditTypeId, config: reading.config } }
    const field = reading.fault.field.replace(/\.amount(?=\.|$)/, '.credits')
    return { kind: 'fault', fault: { field, message: reading.fault.message } }
  } catch (error) {
    if (error instanceof Fault) return { kind: 'fault', fault: { field: error.field, message: error.message } }
    throw error
  }
}

export type RatedCredits = Pick<RatedPrice, 'charges' | 'rollover'> & {
  readonly credits: { readonly quantity: Decimal; readonly creditTypeId: string }
}

/**
 * What usage costs in credits, exact: volume ÷ block size × credits. USAGE_BASED_CONVERSION uses the same formula.
 * Credits that a wallet cannot cover are priced per credit by the item that sells them.
 */
export function rateCredits(
  { config, creditTypeId }: CreditsPrice,
  quantity: Decimal,
  { count = 0, ...options }: RateOptions & { readonly count?: number } = {},
): RatedCredits {
  const { charges, rollover, total } = rate(config, numberVolume(quantity, decimalOfInteger(count)), options)
  return { charges, rollover, credits: { quantity: total.quantity, creditTypeId } }
}
